package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// drifting is how what disturbs no member follows the spec: labels, resources and the size of volumes.
var drifting = map[Kind]transition{
	resized: {
		name:  "kubelet resizes the pod",
		ifPod: func(_ *World, p *Pod) bool { return p.Resizing && !p.Down && !p.Deferred },
		onPod: func(_ *World, p *Pod) { p.Resizing, p.Lowered = false, false },
	},
	volumeGrown: {
		name:     "volume has grown",
		ifVolume: func(w *World, v *Volume) bool { return v.Expanding && !v.Lost && !w.cfg.Stunted },
		onVolume: func(_ *World, v *Volume) { v.Expanding = false },
	},
	resizeInfeasible: {
		name:  "the node has no room for the resize",
		ifPod: func(_ *World, p *Pod) bool { return p.Resizing && !p.Unfit },
		onPod: func(_ *World, p *Pod) { p.Resizing, p.Lowered, p.Unfit = false, false, true },
	},
	starves: {
		name:    "the members need more than they have",
		ifWorld: func(w *World) bool { return slices.ContainsFunc(w.Pods, func(p Pod) bool { return w.lean(&p) }) },
		onWorld: func(w *World) {
			for i := range w.Pods {
				if p := &w.Pods[i]; w.lean(p) {
					w.Etcd.Stop(w.dir(p))
					p.Starved = true
				}
			}
		},
	},
}

// ResizeFaults are those of resizes, and HungerFaults of members that cannot do without one.
var (
	ResizeFaults = []Kind{resizeInfeasible}
	HungerFaults = []Kind{starves}
)

// lean reports whether a server runs in the pod that was not given more yet.
func (w *World) lean(p *Pod) bool {
	v := w.volume(p.Name)
	return w.serverRuns(p) && p.Resources == 0 && (!p.Persistent || v == nil || v.Requested == 0)
}

// famished reports whether a member has too little of what the spec gives it.
func (w *World) famished() bool {
	return slices.ContainsFunc(w.Pods, func(p Pod) bool {
		v := w.volume(p.Name)
		return p.Starved && p.Resources >= w.Resources && (!p.Persistent || v == nil || v.Requested >= int64(w.storage()))
	})
}

// storage is what each claim is to request.
func (k *Kube) storage() int {
	if t := k.Status.Tuned; t.Volume > 0 && t.VolumeInsteadOf == int64(k.Storage) {
		return int(t.Volume)
	}
	return k.Storage
}

// drift is in which respects a pod differs from what the spec would give now, the version aside.
func (k *Kube) drift(p *Pod) plan.Drift {
	d := plan.Drift{
		Metadata: p.Labels != k.Labels, Resources: (p.Resources != k.Resources || p.Amount != k.tunedAmount()) && !k.untuned(p) && !k.barred(p),
		Template: p.Template != k.template() || p.Transport != k.Status.Transport.Served() || p.Quota != k.Status.Tuned.Quota,
	}
	d.LessMemory = d.Resources && k.Memory && k.amountOf(p) > k.dueAmount()
	if p.Fixed && p.FixedAt == k.Resources {
		d = d.Unresizable()
	}
	return d
}

// resize asks for the resources of the spec. The API server refuses those of another quality of service, the negative ones,
// and that is noted on the pod.
func (w *World) resize(p *Pod, amount int) {
	if w.Barred && w.resizes() {
		p.Barred, p.BarredAt = true, amount
		return
	}
	if (p.Resources < 0) != (w.Resources < 0) {
		p.Fixed, p.FixedAt = true, w.Resources
		return
	}
	had, lowered := w.amountOf(p), p.Lowered || !p.Resizing && !p.Unfit
	p.Starved = p.Starved && p.Resources >= w.Resources
	p.Resources, p.Resizing, p.Unfit = w.Resources, p.Phase == plan.Running, false
	p.Amount, p.Deferred = amount, false
	p.Lowered = w.Memory && p.Resizing && lowered && w.amountOf(p) < had
}

// expand asks for more storage on a claim. Where its class does not allow that, the claim is marked.
func (w *World) expand(v *Volume) {
	if w.cfg.Rigid {
		v.NotExpandable = true
		return
	}
	if p := w.pod(v.Name); p != nil {
		p.Starved = p.Starved && v.Requested >= int64(w.storage())
	}
	v.Requested, v.Expanding = int64(w.storage()), true
}
