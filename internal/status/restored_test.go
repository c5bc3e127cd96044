package status

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestCalledOff notes when a cluster is back from a restore that came to nothing, and that an earlier one is done by then.
func TestCalledOff(t *testing.T) {
	in := threeMembers()
	in.Observed.Cluster.Size = 3
	for i := range in.Observed.Pods {
		in.Observed.Pods[i].Incarnation = 2
	}
	in.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Incarnation: 2, Restore: "earlier"}
	in.Cluster.Status.Restores = []v1beta2.RestoreRecord{
		{UID: "late", CalledOff: &v1beta2.RestoreCalledOff{Reason: v1beta2.ReasonRestoreCalledOff}}, {UID: "earlier"},
	}
	silent := in
	silent.Observed.Etcd = plan.Etcd{}
	if s := compute(silent); s.Restores[0].CalledOff.CompletionTime != nil || s.Restores[1].CompletionTime != nil {
		t.Errorf("while nobody answers the records are %+v", s.Restores)
	}
	s := compute(in)
	if s.Restores[0].CalledOff.CompletionTime == nil || s.Restores[0].CompletionTime != nil || s.Restores[1].CompletionTime == nil {
		t.Errorf("once a quorum answers the records are %+v", s.Restores)
	}
}
