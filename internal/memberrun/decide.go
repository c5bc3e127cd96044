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
	// podUID is this pod, never empty.
	podUID string
	// used is the highest attempt that this pod has used up, 0 if none.
	used int
}

// decide returns how etcd may start, or a refusal.
func decide(s situation) (member.Start, *member.Refusal) {
	if s.data != nil {
		return resume(*s.data, s.permit)
	}
	const nothing = "there is no write-ahead log and "
	p := s.permit
	start := member.Start{State: member.StateExisting, InitialCluster: p.InitialCluster, Token: p.Token}
	switch p.Mode {
	case member.ModeNew:
		start.State = member.StateNew
	case member.ModeJoin:
	case member.ModeResume:
		return member.Start{}, &member.Refusal{Reason: member.DataLost, Message: nothing + "the permit needs one"}
	default:
		return member.Start{}, &member.Refusal{
			Reason: member.BadConfig, Message: fmt.Sprintf("a permit of mode %q is not known", p.Mode),
		}
	}
	if p.PodUID != s.podUID {
		return member.Start{}, &member.Refusal{
			Reason: member.DataLost, Message: nothing + "the permit is for another pod",
		}
	}
	if p.Attempt <= s.used {
		return member.Start{}, &member.Refusal{
			Reason: member.DataLost, Attempt: p.Attempt,
			Message: fmt.Sprintf("%spermit %d of this pod has been used", nothing, p.Attempt),
		}
	}
	return start, nil
}

// resume starts etcd from its data whatever the permit's mode: the start that a permit was for has happened.
func resume(data identity, p *member.Permit) (member.Start, *member.Refusal) {
	if permitted := (identity{p.ClusterID, p.MemberID}); data != permitted {
		return member.Start{}, &member.Refusal{
			Reason:  member.ForeignData,
			Message: fmt.Sprintf("the directory holds the data of %s, the permit is for %s", data, permitted),
		}
	}
	return member.Start{State: member.StateExisting}, nil
}
