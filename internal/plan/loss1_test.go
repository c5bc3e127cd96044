package plan

import (
	"testing"
	"time"
)

// TestRebootedNode: the kubelet runs the init containers again after a reboot of the node, and reports Pending meanwhile, of a pod as
// old as it may be.
func TestRebootedNode(t *testing.T) {
	o := silent(healthyCluster(3, true), 1)
	o.Pods[1].Created = now.Add(-30 * 24 * time.Hour)
	o.Pods[1].Ready, o.Pods[1].ReadyChanged = false, now.Add(-5*time.Second)
	o.Pods[1].Phase, o.Pods[1].InService = Pending, true
	for i := 0; i < 4; i++ {
		a, _ := Decide(o)
		t.Logf("%T %+v", a, a)
		switch act := a.(type) {
		case SetBudget:
			o.Budget = Budget{Exists: true, MinAvailable: act.MinAvailable, Settled: true}
			continue
		case CommitVoters:
			o.Cluster.NextVoters = act.Voters
			continue
		case RemoveMember:
			t.Errorf("a member is removed, and its data deleted, whose pod was Ready 5 s ago: %+v", act)
		}
		break
	}
}
