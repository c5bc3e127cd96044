package etcdcluster

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestSteady holds that etcd's authentication is left alone while something else is done, or the cluster is blocked.
func TestSteady(t *testing.T) {
	for action, want := range map[plan.Action]bool{
		plan.Idle{}: true, plan.Blocked{Reason: v1beta2.ReasonRevisionRegressed}: false, plan.Wait{}: true, plan.Promote{}: false,
	} {
		p := &pass{action: action, before: &v1beta2.EtcdClusterStatus{}}
		p.before.ClusterID, p.observed.Etcd.Contact = "c", plan.ContactQuorum
		if got := p.steady(); got != want {
			t.Errorf("%T: got %v", action, got)
		}
	}
}
