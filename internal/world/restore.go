package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// mayNote judges what is about to be written to status of which cluster the present one is. Stale is true if that will be
// refused.
func (w *World) mayNote(a plan.Action, stale bool) bool {
	switch act := a.(type) {
	case plan.CommitBootstrap:
		w.checkAbandoned(&act.Bootstrap, stale)
	case plan.CallOff:
		w.checkCallOff(stale)
	case plan.Latch:
		w.checkKept(act, stale)
	default:
	}
	return !stale
}

// follow counts the restores that were taken up and called off.
func (s *Status) follow(a plan.Action) {
	switch act := a.(type) {
	case plan.CommitBootstrap:
		n := numberOf(&act.Bootstrap)
		if n == 0 {
			return
		}
		if s.Taken = n; s.Former != nil && n != numberOf(s.Bootstrap) {
			s.Off = numberOf(s.Bootstrap)
		}
	case plan.CallOff:
		s.Off = numberOf(s.Bootstrap)
	default:
	}
}

// atRisk is the cluster that clients may write to between its safety snapshot and its end, nil if there is none. That it stops
// within moments of the decision to begin the restore is taken for certain, unless it is late: a pass that is older than a few
// seconds does nothing any more.
func (w *World) atRisk() *etcdtest.Group {
	var g *etcdtest.Group
	switch s := &w.Status; {
	case s.ID != 0 && w.asked() > max(s.Taken, w.off()) && w.undisturbed():
		g = w.Etcd.Group(s.ID)
	case s.Former != nil && w.Late:
		g = w.Etcd.Group(s.Former.ID)
	}
	if g == nil || g.Leader == 0 || !g.Written || g.Again {
		return nil
	}
	return g
}

// stopping tells whether a restore has begun, and a quorum of what it replaces has not been seen to stop.
func (w *World) stopping() bool {
	s := &w.Status
	return s.ID == 0 && s.Former != nil && s.Stopped.IsZero() && !w.Late
}

// checkSaved holds for what a restore has replaced: nothing goes that is nowhere else.
func (w *World) checkSaved(v *Volume) {
	if d := w.Etcd.Disk(v.UID); d != nil && d.Synced && slices.Contains(w.Exposed, d.ClusterID) {
		w.violate("S7: volume %s is deleted, which holds what no safety snapshot does", v.Name)
	}
}

// checkCallOff holds for a restore: nothing is called off that clients can have reached.
func (w *World) checkCallOff(stale bool) {
	if stale {
		return // the write is refused
	}
	if w.Status.ID != 0 || w.Status.Former == nil {
		w.violate("S7: a restore is called off after the cluster ID was latched")
		return
	}
	if !w.unwanted() && numberOf(w.Status.Bootstrap) != 0 && w.Pending == nil && w.Read == nil {
		w.violate("S7: a restore is called off, and nobody has asked for it")
	}
	if w.Pending == nil && w.Read == nil && !w.canGoBack() {
		w.violate("S7: a restore is called off, and the members are gone that the cluster is to go back to")
	}
}

// canGoBack tells whether a quorum of what the restore under way replaces can form again, as far as that can be seen: what was
// lost on a volume nobody knows before etcd is to start on it.
func (w *World) canGoBack() bool {
	f := w.Status.Former
	g := w.Etcd.Group(f.ID)
	if f.ID == 0 || g == nil {
		return f.ID == 0
	}
	n := 0
	for i := range g.Members {
		if m := &g.Members[i]; !m.Learner && w.comesBack(g, m) {
			n++
		}
	}
	return n >= etcdtest.Quorum(g.Voters())
}

// comesBack tells whether nothing is known to keep a former member from it.
func (w *World) comesBack(g *etcdtest.Group, m *etcdtest.Member) bool {
	if p := w.pod(m.Name); p != nil && !p.Persistent {
		return w.survives(g, m)
	}
	v := w.volume(m.Name)
	return v != nil && v.ClusterID == g.ID && v.MemberID == m.ID && !v.Lost && !v.Deleting
}

// checkKept holds for a restore of what could not be saved: from the latch on nothing else tells which volumes that is on.
func (w *World) checkKept(act plan.Latch, stale bool) {
	if stale || !w.Status.Unsaved || w.Status.Former == nil {
		return // the write is refused, or nothing is to be kept
	}
	for i := range w.Volumes {
		v := &w.Volumes[i]
		d := w.Etcd.Disk(v.UID)
		if d == nil || d.ClusterID != w.Status.Former.ID || v.Deleting || slices.Contains(w.Status.Kept, v.UID) {
			continue
		}
		if !slices.ContainsFunc(act.Kept, func(k plan.KeptVolume) bool { return k.UID == v.UID }) {
			w.violate("S7: volume %s is not kept, whose data was replaced unsaved", v.Name)
		}
	}
}

// checkNumber is S3 for attempts of all kinds: tokens and cluster IDs follow from their numbers. After a lost status a number is
// not known any more of which nothing is left.
func (w *World) checkNumber(next *plan.Bootstrap) {
	if b := w.Status.Bootstrap; b != nil && b.ClusterID == next.ClusterID {
		return // the same attempt
	}
	n := next.Incarnation
	forgotten := n <= w.Forgotten && w.Etcd.Group(next.ClusterID) == nil &&
		!slices.ContainsFunc(w.Pods, func(p Pod) bool { return p.Incarnation >= n }) &&
		!slices.ContainsFunc(w.Volumes, func(v Volume) bool { return v.Incarnation >= n })
	if n <= w.Highest && !forgotten {
		w.violate("S3: incarnation %d is used again", n)
	}
}
