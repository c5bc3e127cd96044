package etcdcluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// noteDecided records in a restore's record what is decided of it.
func noteDecided(p *pass) {
	switch a := p.action.(type) {
	case plan.CommitBootstrap:
		noteRestore(p, a)
	case plan.CancelRestore:
		noteCallOff(p, a)
	case plan.ContinueRestore:
		noteContinued(p, a)
	default:
	}
}

// noteCallOff records why the restore is canceled.
func noteCallOff(p *pass, a plan.CancelRestore) {
	if record := status.UnderWay(&p.cluster.Status); record != nil {
		record.CalledOff = &v1beta2.RestoreCalledOff{
			Reason: a.Why.Reason, Message: a.Why.Message, StartTime: metav1.NewTime(p.observed.Now),
		}
	}
}

// noteContinued records why the restore is not canceled.
func noteContinued(p *pass, a plan.ContinueRestore) {
	if record := status.UnderWay(&p.cluster.Status); record != nil {
		record.NotCalledOff = a.Why.Message
	}
}

// resuming says which restore was canceled, and why, until the cluster that it was to replace has quorum again; empty if none was.
func resuming(s *v1beta2.EtcdClusterStatus) string {
	if len(s.Restores) > 0 {
		if off := s.Restores[0].CalledOff; off != nil && off.CompletionTime == nil {
			return "EtcdRestore " + s.Restores[0].Name + " is canceled: " + off.Message
		}
	}
	return ""
}
