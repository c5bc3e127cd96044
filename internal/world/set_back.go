package world

import "github.com/etcdpilot/etcd-operator/internal/plan"

// started reports whether the cluster ID of a first start is recorded.
func (w *World) started() bool {
	b := w.Status.Bootstrap
	return w.Status.ID != 0 && b != nil && b.Restore == "" && w.Status.Previous == nil
}

// setBack puts status back to what it was before that ID was recorded, with those pods bound to the initial members.
func (w *World) setBack(bound []plan.InitialPod) {
	b := *w.Status.Bootstrap
	b.InitialPods = bound
	w.SetBack = true
	w.Status.Record = plan.Record{
		Bootstrap: &b, Incarnations: w.Status.Incarnations, AcceptedSpec: w.Status.AcceptedSpec, Transport: w.Status.Transport,
	}
	w.touched()
}
