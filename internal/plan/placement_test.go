package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestUnreachableVolumes is about volumes that were never used, and that are bound to a node which is gone: a cluster that is yet to start
// does not wait for it.
func TestUnreachableVolumes(t *testing.T) {
	unreachable := func(i int, age time.Duration) func(*Observed) {
		return func(o *Observed) {
			p := &o.Pods[i]
			p.Phase, p.IP, p.Node, p.Created = Pending, "", "", now.Add(-age)
			p.StartProblem = "cannot be scheduled: 0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity"
		}
	}
	used := func(o *Observed) {
		o.Volumes[0].ClusterID, o.Volumes[0].MemberID = o.Cluster.Bootstrap.ClusterID, uint64(initialID(*o, 0))
	}
	permitted := func(o *Observed) { o.Pods[0].Permit = o.Volumes[0].resumePermit() }
	again := CommitBootstrap{Bootstrap: newView(emptyCluster(1, true)).plannedBootstrap(2)}
	restored := func(age time.Duration, changes ...func(*Observed)) Observed {
		return edit(edit(replacedBySnapshot(true, oldIsGone, restoredPod, restoredVolume), unreachable(0, age)), changes...)
	}
	waits := Wait{Reason: v1beta2.ReasonPodCannotStart}
	check(t, map[string]planCase{
		"a first start begins again":       {edit(bootstrapped(1, true), unreachable(0, time.Hour)), again},
		"not at once":                      {edit(bootstrapped(1, true), unreachable(0, silentLimit-time.Second)), waits},
		"after its pods were committed":    {edit(bound(bootstrapped(1, true)), unreachable(0, time.Hour)), again},
		"not where etcd may have been":     {edit(bound(bootstrapped(1, true)), unreachable(0, time.Hour), used, permitted), waits},
		"an emptyDir is on no node":        {edit(bootstrapped(1, false), unreachable(0, time.Hour)), waits},
		"a restore begins again":           {restored(time.Hour), CommitBootstrap{Bootstrap: newView(restored(0)).newBootstrap(3, []string{"c-4"}, "restore")}},
		"a restore does not begin at once": {restored(time.Minute), waits},
		"not where etcd was permitted to run": {restored(time.Hour, func(o *Observed) {
			c := &o.Volumes[len(o.Volumes)-1]
			c.ClusterID, c.MemberID = o.Cluster.Bootstrap.ClusterID, uint64(initialID(*o, 3))
		}), waits},
	})
}
