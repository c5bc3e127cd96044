package memberrun

import (
	"fmt"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// situation is all that the decision depends on.
type situation struct {
	// data is whose data is there, nil if there is none.
	data *identity
	// permit is the operator's word.
	permit *member.Permit
	// podUID is this pod and used the highest attempt that it has used up, 0 if none.
	podUID string
	used   int
}

// decide returns how etcd may start, or a refusal. Data that is ours starts alone: etcd reads its peers from the log,
// and a configuration that names nobody else cannot start should the log turn out to be gone.
func decide(s situation) (member.Start, *member.Refusal) {
	p := s.permit
	if s.data != nil {
		if s.data.clusterID != p.ClusterID || s.data.memberID != p.MemberID {
			return member.Start{}, &member.Refusal{Reason: member.ForeignData, Message: fmt.Sprintf(
				"the directory holds member %016x of cluster %016x, the permit is for member %016x of cluster %016x",
				uint64(s.data.memberID), uint64(s.data.clusterID), uint64(p.MemberID), uint64(p.ClusterID))}
		}
		return member.Start{State: "existing"}, nil
	}
	switch {
	case p.Mode == member.ModeResume:
		return member.Start{}, &member.Refusal{
			Reason: member.DataLost, Message: "there is no write-ahead log and the permit needs one",
		}
	case p.PodUID != s.podUID:
		return member.Start{}, &member.Refusal{
			Reason: member.DataLost, Message: "there is no write-ahead log and the permit is for another pod",
		}
	case p.Attempt <= s.used:
		return member.Start{}, &member.Refusal{Reason: member.DataLost, Message: fmt.Sprintf(
			"there is no write-ahead log and permit %d of this pod has been used", p.Attempt)}
	}
	start := member.Start{State: "existing", InitialCluster: p.InitialCluster, Token: p.Token}
	if p.Mode == member.ModeNew {
		start.State = "new"
	}
	return start, nil
}
