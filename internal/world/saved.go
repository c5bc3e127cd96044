package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// save is what an EtcdRestore does before it asks for the data to be replaced: it takes a safety snapshot, if anybody answers,
// and that one may have been left behind by the others. Clients may write afterwards. Without a status nobody knows of volumes
// whether they are the cluster's that was saved; of an attempt at a start nothing is saved before its cluster ID is recorded.
func (w *World) save(next *Spec) {
	next.Saved, next.Minority = 0, false
	if w.Status.ID == 0 && (w.Status.Bootstrap != nil || len(w.Volumes) > 0) || next.Unsaved == next.Restore {
		return
	}
	for _, id := range w.held() {
		if g := w.Etcd.Group(id); w.anybody(id) {
			next.Saved, next.Minority = revision(g), g.Leader == 0
			return
		}
	}
}

// held are the clusters whose data a restore would replace: the present one, or all that are there if status tells of none.
func (w *World) held() (ids []uint64) {
	if w.Status.ID != 0 || w.Status.Bootstrap != nil {
		if g := w.group(); g != nil {
			ids = append(ids, g.ID)
		}
		return ids
	}
	for i := range w.Etcd.Groups {
		ids = append(ids, w.Etcd.Groups[i].ID)
	}
	return ids
}

// anybody reports whether a server of that cluster runs.
func (w *World) anybody(id uint64) bool {
	g := w.Etcd.Group(id)
	return slices.ContainsFunc(g.Members, func(m etcdtest.Member) bool { return w.Etcd.Running(id, m.ID) })
}

// safety is what the last EtcdRestore has saved.
func (k *Kube) safety() plan.Safety {
	switch n := k.asked(); {
	case k.ofSurvivor(n): // a long time has passed since it was taken
		return plan.Safety{Revision: k.Saved, Stale: true, CompletedAt: base.Add(-time.Hour)}
	case k.skips(n):
		return plan.Safety{Skipped: true}
	case n == k.Unsaved:
		return plan.Safety{UnsavedReason: "no member could be reached"}
	}
	return plan.Safety{Revision: k.Saved, Stale: k.Minority, CompletedAt: base}
}

// wanting reports whether a restore is to replace what it has not saved, or perhaps not all of it, and nobody has said that this
// does not matter. What one under way replaces another one has seen to.
func (w *World) wanting() bool {
	s := w.safety()
	asked := w.asked() > max(w.Status.Taken, w.off()) && w.Status.Previous == nil && !w.ofSurvivor(w.asked())
	return asked && !s.Skipped && (s.UnsavedReason != "" || s.Stale || s.Revision == 0)
}

// refuses reports whether the EtcdRestore goes no further for that: where there is an emptyDir that may have data, nothing could
// be kept.
func (w *World) refuses() bool {
	return w.wanting() && slices.ContainsFunc(w.Pods, func(p Pod) bool {
		return !p.Persistent && p.Permit != nil && !p.Deleting && p.Phase != plan.Finished
	})
}

// lookAgain is what becomes of it: what there is by now is saved, or the user does without in another EtcdRestore.
func (w *World) lookAgain() {
	if w.save(&w.Spec); w.wanting() {
		w.LastSkip = w.asked()
		w.FirstSkip = cmp.Or(w.FirstSkip, w.LastSkip)
	}
}

// checkEmptyDirs holds for a restore that begins: what is on an emptyDir goes with its pod, and must be in a safety snapshot.
func (w *World) checkEmptyDirs(next *plan.Bootstrap) {
	if numberOf(next) != w.asked() || !w.wanting() {
		return
	}
	for i := range w.Pods {
		p := &w.Pods[i]
		d := w.disk(p)
		if p.Persistent || p.Deleting || d == nil || !d.Synced {
			continue
		}
		if g := w.Etcd.Group(d.ClusterID); g != nil && g.Written {
			w.violate("S7: what %s has on an emptyDir is replaced, and in no safety snapshot", p.Name)
		}
	}
}
