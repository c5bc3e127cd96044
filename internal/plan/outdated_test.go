package plan

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestStatusOutdated has status be of before the cluster ID was recorded, and pods and volumes of after it.
func TestStatusOutdated(t *testing.T) {
	// back is the status of before, with those initial members bound.
	back := func(o Observed, bound ...string) Observed {
		return edit(o, func(o *Observed) {
			b := *o.Cluster.Bootstrap
			b.InitialPods = nil
			for _, name := range bound {
				b.InitialPods = append(b.InitialPods, InitialPod{Name: name, PodUID: newView(*o).pods[name].UID})
			}
			o.Cluster.Record = Record{Bootstrap: &b, Incarnations: o.Cluster.Incarnations}
			for i := range o.Pods {
				o.Pods[i].Permit = &member.Permit{Mode: member.ModeNew, ClusterID: member.ID(b.ClusterID), MemberID: initialID(*o, i), PodUID: o.Pods[i].UID, Attempt: 1}
			}
			for i := range o.Volumes {
				o.Volumes[i].ClusterID, o.Volumes[i].MemberID = b.ClusterID, uint64(initialID(*o, i))
			}
		})
	}
	larger := func(o *Observed) { o.Cluster.Size = 5 }
	// restoring is a restore from whose only member the others have joined already.
	restoring := edit(back(healthyCluster(3, true)), func(o *Observed) {
		b := *o.Cluster.Bootstrap
		b.Restore, b.Members = "restore", []string{name(0)}
		o.Cluster.Bootstrap, o.Cluster.Restore = &b, "restore"
	})
	outdated := Blocked{Reason: v1beta2.ReasonStatusOutdated}
	check(t, map[string]planCase{
		"no pod was bound, and another size is asked for": {edit(back(healthyCluster(3, true)), larger), outdated},
		"no pod was bound, on emptyDirs":                  {edit(back(healthyCluster(3, false)), larger), outdated},
		"only volumes are left":                           {edit(back(healthyCluster(3, true)), func(o *Observed) { o.Pods = nil }), outdated},
		"one has joined since":                            {back(healthyCluster(3, false), name(0), name(1)), outdated},
		"others have joined a restored member":            {restoring, outdated},
		"all of them may have been permitted":             {noContact(back(healthyCluster(3, false), name(0), name(1), name(2))), Wait{Reason: v1beta2.ReasonWaitingForEtcd}},
		"one of the same name has joined since": {
			noContact(edit(back(healthyCluster(3, false), name(0), name(1), name(2)), func(o *Observed) { o.Pods[1].Permit.MemberID = 0x200 })), outdated,
		},
		"the cluster is paused": {edit(back(healthyCluster(3, true)), func(o *Observed) { o.Cluster.Paused = true }), Idle{Reason: v1beta2.ReasonPaused}},
	})
}
