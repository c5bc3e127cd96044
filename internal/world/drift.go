package world

import "github.com/etcdpilot/etcd-operator/internal/plan"

// drifting is how what disturbs no member follows the spec: labels, resources and the size of volumes.
var drifting = map[Kind]transition{
	resized: {
		name:  "kubelet resizes the pod",
		ifPod: func(_ *World, p *Pod) bool { return p.Resizing && !p.Down },
		onPod: func(_ *World, p *Pod) { p.Resizing = false },
	},
	volumeGrown: {
		name:     "volume has grown",
		ifVolume: func(_ *World, v *Volume) bool { return v.Growing && !v.Lost },
		onVolume: func(_ *World, v *Volume) { v.Growing = false },
	},
	resizeInfeasible: {
		name:  "the node has no room for the resize",
		ifPod: func(_ *World, p *Pod) bool { return p.Resizing && !p.Unfit },
		onPod: func(_ *World, p *Pod) { p.Resizing, p.Unfit = false, true },
	},
}

// ResizeFaults are those of resizes.
var ResizeFaults = []Kind{resizeInfeasible}

// drift is in which respects a pod differs from what the spec would give now, the version aside.
func (k *Kube) drift(p *Pod) plan.Drift {
	d := plan.Drift{
		Metadata: p.Labels != k.Labels, Resources: p.Resources != k.Resources, Template: p.Template != k.template(),
	}
	if d.Resources && p.Fixed == k.Resources {
		d.Resources, d.Template = false, true
	}
	return d
}

// setMetadata gives the pod that was seen the labels of the spec.
func (w *World) setMetadata(act plan.SetMetadata) bool {
	p := w.pod(act.Name)
	if p == nil || p.UID != act.UID {
		return false
	}
	p.Labels = w.Labels
	return true
}

// resize asks for the resources of the spec. The API server refuses those of another quality of service, the negative ones,
// and that is noted on the pod.
func (w *World) resize(act plan.Resize) bool {
	p := w.pod(act.Name)
	switch {
	case p == nil || p.UID != act.UID:
		return false
	case (p.Resources < 0) != (w.Resources < 0):
		p.Fixed = w.Resources
	default:
		p.Resources, p.Resizing = w.Resources, p.Phase == plan.Running
	}
	return true
}

// expand asks for more storage on the claim that was seen. Where its class does not allow that, the claim is marked.
func (w *World) expand(name string, o *plan.Observed) bool {
	v := w.volume(name)
	switch {
	case v == nil:
		return true
	case v.UID != seenVolume(o, name):
		return false
	case w.cfg.Rigid:
		v.Fixed = true
	default:
		v.Requested, v.Growing = int64(w.Storage), true
	}
	return true
}
