package plan

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestRefusedStart starts a cluster with those of its first members that the API server allows, if they are a quorum.
func TestRefusedStart(t *testing.T) {
	pod := Target{"create", KindPod, "c-2"}
	first := func(n int) CommitBootstrap {
		b := *bound(bootstrapped(3, true)).Cluster.Bootstrap
		b.InitialPods = b.InitialPods[:n]
		return CommitBootstrap{Bootstrap: b}
	}
	noPod := withoutPod(bootstrapped(3, true), 2)
	noVolume := edit(noPod, func(o *Observed) { o.Volumes = o.Volumes[:2] })
	check(t, map[string]planCase{
		"a pod":    {edit(noPod, refuse(pod)), first(2)},
		"a volume": {edit(noVolume, refuse(TargetOf(CreateVolume{Name: "c-2"}))), first(2)},
		"a volume, and the others have no pods yet": {
			edit(noVolume, func(o *Observed) { o.Pods = nil }, refuse(TargetOf(CreateVolume{Name: "c-2"}))),
			CreatePods{[]NewPod{
				{Name: "c-0", Incarnation: 1, Version: "3.6.16", Persistent: true}, {Name: "c-1", Incarnation: 1, Version: "3.6.16", Persistent: true},
			}},
		},
		"two pods: that is no quorum": {
			edit(withoutPod(noPod, 1), refuse(pod, Target{"create", KindPod, "c-1"})), Wait{Reason: v1beta2.ReasonWriteRefused},
		},
		"a pod that comes later starts with the others until they are up": {
			edit(bootstrapped(3, true), func(o *Observed) { o.Cluster.Bootstrap = new(first(2).Bootstrap) }), first(3),
		},
	})
}
