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
	case plan.CancelRestore:
		w.checkCallOff(stale)
	default:
	}
	return !stale
}

// follow counts the restores that were taken up and canceled.
func (s *Status) follow(a plan.Action) {
	switch act := a.(type) {
	case plan.CommitBootstrap:
		n := numberOf(&act.Bootstrap)
		if n == 0 {
			return
		}
		if s.Taken = n; s.Previous != nil && n != numberOf(s.Bootstrap) {
			s.Off = numberOf(s.Bootstrap)
		}
	case plan.CancelRestore:
		s.Off = numberOf(s.Bootstrap)
	default:
	}
}

// give takes down of which etcd clusters the user has said that nothing needs to be saved. Of several restores that take each
// other's places all have to say so.
func (w *World) give(a plan.Action) {
	s := &w.Status
	switch act := a.(type) {
	case plan.CommitBootstrap:
		skips := w.skips(numberOf(&act.Bootstrap))
		switch {
		case !s.StartsRestore(act.Bootstrap):
		case s.Previous == nil && skips && s.ExpectedID() != 0:
			w.SkipAllowed = append(slices.Clone(w.SkipAllowed), s.ExpectedID())
		case s.Previous != nil && !skips:
			w.takeBack(s.Previous.ExpectedID())
		}
	case plan.CancelRestore:
		if s.Previous != nil {
			w.takeBack(s.Previous.ExpectedID())
		}
	default:
	}
}

func (w *World) takeBack(clusterID uint64) {
	w.SkipAllowed = slices.DeleteFunc(slices.Clone(w.SkipAllowed), func(id uint64) bool { return id == clusterID })
}

// checkReplaced holds for what a restore has replaced: nothing goes that was ever acknowledged, unless the user has given it up.
func (w *World) checkReplaced(v *Volume) {
	d := w.Etcd.Disk(v.UID)
	if d == nil || slices.Contains(w.SkipAllowed, d.ClusterID) {
		return
	}
	if g := w.Etcd.Group(d.ClusterID); g != nil && g.Written {
		w.violate("S7: volume %s is deleted, which holds acknowledged data", v.Name)
	}
}

// checkKept holds for what status says is kept, whatever is on it.
func (w *World) checkKept(v *Volume) {
	if slices.Contains(w.Status.KeptUIDs, v.UID) {
		w.violate("S7: volume %s is deleted, which is kept", v.Name)
	}
}

// checkCallOff holds for a restore: nothing is canceled that clients can have reached.
func (w *World) checkCallOff(stale bool) {
	if stale {
		return // the write is refused
	}
	if w.Status.ID != 0 || w.Status.Previous == nil {
		w.violate("S7: a restore is canceled after the cluster ID was recorded")
		return
	}
	if !w.unwanted() && numberOf(w.Status.Bootstrap) != 0 && w.Pending == nil && w.Read == nil {
		w.violate("S7: a restore is canceled, and nobody has asked for it")
	}
	if w.Pending == nil && w.Read == nil && !w.canGoBack() {
		w.violate("S7: a restore is canceled, and the members are gone that the cluster is to go back to")
	}
}

// canGoBack reports whether a quorum of what the restore under way replaces can form again, as far as that can be seen: what was
// lost on a volume nobody knows before etcd is to start on it.
func (w *World) canGoBack() bool {
	f := w.Status.Previous
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

// canComeBack reports whether nothing is known to keep a former member from it.
func (w *World) comesBack(g *etcdtest.Group, m *etcdtest.Member) bool {
	if p := w.pod(m.Name); p != nil && !p.Persistent {
		return w.survives(g, m)
	}
	v := w.volume(m.Name)
	return v != nil && v.ClusterID == g.ID && v.MemberID == m.ID && !v.Lost && !v.Deleting
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
