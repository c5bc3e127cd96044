package status

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestStopNoted has the record of a restore tell when the members stopped that it replaces, once.
func TestStopNoted(t *testing.T) {
	old := plan.Pod{Name: "c-0", Incarnation: 1, Permit: &member.Permit{}}
	for title, c := range map[string]struct {
		action plan.Action
		pods   []plan.Pod
		id     string
		want   bool
	}{
		"its member runs":       {plan.Wait{}, []plan.Pod{old}, "", false},
		"it is gone":            {plan.Wait{}, nil, "", true},
		"it has yet to be seen": {plan.CommitBootstrap{}, nil, "", false},
		"the restore is over":   {plan.Wait{}, nil, "c1", false},
	} {
		in := Input{
			Cluster: &v1beta2.EtcdCluster{Status: v1beta2.EtcdClusterStatus{
				ClusterID: c.id, Restores: []v1beta2.RestoreRecord{{UID: "r"}},
				InternalStatus: v1beta2.InternalStatus{
					Former: &v1beta2.FormerStatus{
						ClusterID: "c0", Bootstrap: &v1beta2.BootstrapStatus{Incarnation: 1},
						MemberStatuses: []v1beta2.MemberStatus{{Name: "c-0", Role: v1beta2.MemberRoleVoter}},
					},
					Incarnations: &v1beta2.IncarnationsStatus{Last: 2, Attempts: 2},
					Bootstrap:    &v1beta2.BootstrapStatus{Restore: "r", Incarnation: 2},
				},
			}},
			Action: c.action, Observed: plan.Observed{Now: at, Pods: c.pods},
		}
		if got := compute(in).Restores[0].StopTime != nil; got != c.want {
			t.Errorf("%s: noted %t", title, got)
		}
	}
}
