package etcdcluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// noteCallOff says in the restore's record why it is called off.
func noteCallOff(p *pass, a plan.CancelRestore) {
	if record := status.UnderWay(&p.cluster.Status); record != nil {
		record.CalledOff = &v1beta2.RestoreCalledOff{
			Reason: a.Why.Reason, Message: a.Why.Message, StartTime: metav1.NewTime(p.observed.Now),
		}
	}
}

// noteContinued says in the restore's record why it is not called off.
func noteContinued(p *pass, a plan.ContinueRestore) {
	if record := status.UnderWay(&p.cluster.Status); record != nil {
		record.NotCalledOff = a.Why.Message
	}
}

// resuming says which restore was called off, and why, until a quorum answers of the cluster that it was to replace; empty if
// none was.
func resuming(s *v1beta2.EtcdClusterStatus) string {
	if len(s.Restores) > 0 {
		if off := s.Restores[0].CalledOff; off != nil && off.CompletionTime == nil {
			return "EtcdRestore " + s.Restores[0].Name + " is called off: " + off.Message
		}
	}
	return ""
}
