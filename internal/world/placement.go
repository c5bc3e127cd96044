package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// placement is what becomes of volumes that are on the node, or in the zone, where their pods were scheduled first: nobody else can have
// them while it is away.
var placement = map[Kind]transition{
	nodeLeaves: {
		name:     "the volume's node is gone",
		ifVolume: func(w *World, v *Volume) bool { return w.cfg.Local && !v.Away && (v.Tied || w.pod(v.Name) != nil) },
		onVolume: func(w *World, v *Volume) {
			v.Tied, v.Away = true, true
			if p := w.pod(v.Name); p != nil && p.Phase != plan.Pending {
				p.Down = true
				w.Etcd.Stop(v.UID)
			}
		},
	},
	nodeRejoins: {
		name:     "the volume's node is back",
		ifVolume: func(w *World, v *Volume) bool { return v.Away && !w.cfg.Razed },
		onVolume: func(w *World, v *Volume) {
			v.Away = false
			if p := w.pod(v.Name); p != nil {
				p.Down = false
			}
		},
	},
}

// PlacementFaults are nodes that go with their volumes, and what goes besides.
var PlacementFaults = []Kind{nodeLeaves, podKilled, volumeDeleted}

// unscheduled is what the scheduler says of a pod whose volume is on a node that is away.
const unscheduled = "cannot be scheduled: 0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity"

// away reports whether the pod's volume is on a node that is away.
func (k *Kube) away(p *Pod) bool {
	v := k.volume(p.Name)
	return p.Persistent && v != nil && v.Away
}

// outOfReach reports whether a node never comes back on which there may be data, as far as the operator knows or will know: it may yet
// permit a pod to start of which it has not heard that its node is gone.
func (w *World) outOfReach() bool {
	return w.cfg.Razed && slices.ContainsFunc(w.Volumes, func(v Volume) bool {
		p := w.pod(v.Name)
		return v.Away && (v.MemberID != 0 || p != nil && p.Down)
	})
}
