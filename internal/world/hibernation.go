package world

import (
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// checkHibernation is what must hold as all members are stopped: somebody has asked for it, every voter has its data on a volume, nobody is
// on the way to become one, and no member is started again before somebody asks for that.
func (w *World) checkHibernation(a plan.Action) {
	switch act := a.(type) {
	case plan.CommitHibernation:
		if act.Hibernation == plan.Hibernated {
			w.checkSleep()
		} else if w.Hibernate && !w.keepsAlive() {
			w.violate("H: the members start again, and are to be stopped")
		}
	case plan.CreatePods:
		if w.Status.Hibernation == plan.Hibernated {
			w.violate("H: a pod is created while the cluster hibernates")
		}
	case plan.DeletePod:
		if p := w.pod(act.Name); w.Status.Hibernation == plan.Hibernated && p != nil && w.ephemeral(p) {
			w.violate("H: %s is stopped, and its data ends with it", act.Name)
		}
	default:
	}
}

// keepsAlive reports whether there is a pod with which a member's data ends.
func (w *World) keepsAlive() bool {
	for i := range w.Pods {
		if p := &w.Pods[i]; !p.Deleting && w.ephemeral(p) {
			return true
		}
	}
	return false
}

// ephemeral reports whether what a pod holds is not on a volume that stays.
func (w *World) ephemeral(p *Pod) bool {
	v := w.volume(p.Name)
	return !p.Persistent || v == nil || v.Deleting || v.Lost
}

func (w *World) checkSleep() {
	g := w.Etcd.Group(w.Status.ID)
	switch {
	case !w.Hibernate:
		w.violate("H: all members are to be stopped, and nobody has asked for it")
		return
	case g == nil:
		w.violate("H: all members are to be stopped, and there are none")
		return
	}
	for i := range g.Members {
		m := &g.Members[i]
		p, v := w.pod(m.Name), w.volume(m.Name)
		switch {
		case m.Learner:
			w.violate("H: all members are to be stopped while %s joins", m.Name)
		case p != nil && !p.Persistent, v == nil || v.Lost || v.Deleting:
			w.violate("H: all members are to be stopped, and %s has no volume that stays", m.Name)
		}
	}
}

// asleep reports whether all members are stopped, as they are to be. What is left of pods on nodes that are gone stays.
func (w *World) asleep() bool {
	for i := range w.Pods {
		if p := &w.Pods[i]; !w.cfg.Silent || !p.Down && !p.Held || !p.Overdue {
			return false
		}
	}
	return w.Status.Hibernation == plan.Hibernated
}

// stops reports whether an action stops a member because all of them are to be stopped.
func (w *World) stops(a plan.Action) bool {
	_, deletes := a.(plan.DeletePod)
	return deletes && w.Status.Hibernation == plan.Hibernated
}
