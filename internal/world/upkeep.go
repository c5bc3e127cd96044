package world

import (
	"cmp"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// checkUpkeep is for what is done about databases: one at a time, none that is copied or leads, and no alarm taken back in vain.
func (w *World) checkUpkeep(a plan.Action) {
	switch act := a.(type) {
	case plan.Disarm:
		if p := w.running(w.nearQuota); p != nil && act.Kind == plan.AlarmNoSpace {
			w.violate("R: the alarm is disarmed while the file of %s takes more than nine tenths of its quota", p.Name)
		}
	case plan.Defragment:
		if p := w.running(func(p *Pod) bool { return p.Busy }); p != nil {
			w.violate("R: %s is defragmented while %s is", act.Name, p.Name)
		}
		if p := w.pod(act.Name); p != nil && p.Copied && w.serverRuns(p) {
			w.violate("R: %s is defragmented while a snapshot of it is read", act.Name)
		}
		if g := w.Etcd.Group(w.Status.ID); g != nil && g.Leader == act.ID && g.Voters() > 1 && !w.pauses(a) {
			w.violate("R: %s is defragmented while it leads", act.Name)
		}
	case plan.Compact:
		w.checkHistory("history is given up")
	case plan.CommitTuning:
		w.checkTuning(act)
	case plan.Resize:
		w.checkResize(act)
	default:
	}
}

// checkTuning is for options and sizes that take the place of the spec's: within what is allowed, and one after the other.
func (w *World) checkTuning(act plan.CommitTuning) {
	g, cramped := w.Etcd.Group(w.Status.ID), w.cramped(act.Quota)
	if act.Quota != w.Status.Tuned.Quota && w.Full && w.History {
		w.checkHistory("the quota is raised for history")
	}
	switch {
	case act.FromVersion != "":
		w.checkPatch(act)
	case act.FromResources != (plan.Resources{}):
		w.checkResized(act)
	case act.FromVolume > 0 && (act.Volume > w.cfg.Autopilot.MaxVolume || act.Volume <= int64(w.storage())):
		w.violate("R: volumes have %d and are to have %d", w.storage(), act.Volume)
	case act.FromVolume > 0:
	case w.Storage > 0 && cramped != "":
		w.violate("R: the quota becomes %d, and the volume of %s has no room", act.Quota, cramped)
	case act.Quota > w.cfg.Autopilot.MaxQuota || act.Quota <= cmp.Or(w.Status.Tuned.Quota, quota):
		w.violate("R: the quota is %d and becomes %d", cmp.Or(w.Status.Tuned.Quota, quota), act.Quota)
	case g != nil && w.updating():
		w.violate("R: the quota is raised again before all members have the last one")
	}
}

// cramped is a running member whose volume has no room for a database with that quota, a copy of it and 1Gi; empty if there is none.
func (w *World) cramped(quota int64) string {
	p := w.running(func(p *Pod) bool {
		v := w.volume(p.Name)
		return p.Persistent && v != nil && (v.Requested < 2*quota+1<<30 || v.Expanding)
	})
	if p == nil {
		return ""
	}
	return p.Name
}

// updating reports whether a member's server has not been given the quota yet that was committed to last.
func (w *World) updating() bool {
	return w.running(func(p *Pod) bool { return p.Quota != w.Status.Tuned.Quota }) != nil
}

// pauses reports whether a cluster of one or two pauses while a member of it is defragmented: it takes no writes anyway.
func (w *World) pauses(a plan.Action) bool {
	const few = 2
	_, defragments := a.(plan.Defragment)
	g := w.Etcd.Group(w.Status.ID)
	return defragments && w.Full && g != nil && g.Voters() <= few
}
