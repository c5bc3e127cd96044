package status

import (
	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// completeRestore records when a quorum of all members first ran on the restored data, so that the cluster is as safe as any other
// from then on; and when a cluster had quorum again after a restore was canceled.
func completeRestore(s *v1beta2.EtcdClusterStatus, in Input) {
	if !hasClusterID(s) || in.Observed.Etcd.Contact != plan.ContactQuorum {
		return
	}
	at := now(in.Observed)
	if len(s.Restores) > 0 {
		if off := s.Restores[0].CalledOff; off != nil && off.CompletionTime == nil {
			off.CompletionTime = &at
		}
	}
	for i := range s.Restores {
		r := &s.Restores[i]
		if s.Bootstrap != nil && s.Bootstrap.Restore == r.UID && r.CompletionTime == nil &&
			len(s.Members.Ready) >= plan.Quorum(in.Observed.Cluster.Size) {
			r.CompletionTime = &at
		}
	}
}
