package plan

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestRefusedCandidates goes on without what happens to candidates.
func TestRefusedCandidates(t *testing.T) {
	with := func(size int, all ...int) func(*Observed) {
		return func(o *Observed) {
			o.Cluster.Size = size
			for _, i := range all {
				o.Pods = append(o.Pods, waitingPod(i))
			}
		}
	}
	label := func(rewritten bool) func(*Observed) {
		return func(o *Observed) { o.Pods[3].Drift = Drift{Metadata: true, Rewritten: rewritten} }
	}
	deletes := func(i int) Target { return Target{"delete", KindPod, name(i)} }
	check(t, map[string]planCase{
		"a surplus one stays: the next one goes": {
			edit(healthyCluster(3, false), with(3, 3, 4), refuse(deletes(4))), DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonScaling},
		},
		"a surplus one stays: surplus members go": {
			edit(healthyCluster(5, false), with(3, 5), refuse(deletes(5))), SetBudget{MinAvailable: 5},
		},
		"a surplus one stays: no member goes for it": {
			edit(healthyCluster(3, false), with(3, 3), refuse(deletes(3))), Wait{Reason: v1beta2.ReasonWriteRefused},
		},
		"a label is changed back: it becomes a member": {
			edit(healthyCluster(3, false), with(4, 3), label(true)), AddLearner{Name: "c-3", PeerURL: healthyCluster(3, false).Cluster.PeerURL("c-3")},
		},
		"the spec has another label: one is made with that": {
			edit(healthyCluster(3, false), with(4, 3), label(false)), DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonSpecChanged},
		},
	})
}
