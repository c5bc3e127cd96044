package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// recoverable reports whether the cluster must reach its spec without further faults: a quorum of the data, or of initial members
// yet to start, survives. Before the cluster ID is recorded, a start can be given up and begun again unless a client has written.
// It is false while a pass is held up, for what it has seen may be over, and while a membership changes and a member looks well
// whose node has been cut off: the operator may count on it.
func (w *World) recoverable() bool {
	g := w.group()
	if w.impossible() || w.unwanted() && w.canGoBack() {
		return w.canGoBack() && w.recoverableByGoingBack()
	}
	switch {
	case w.Pending != nil || w.Read != nil || w.needsUser() || w.recovering():
		return false
	case !w.restored(): // whatever has become of the data
		return true
	case g == nil: // nothing is started from nothing beside what an earlier cluster has left, be it lost
		return w.Status.ID == 0 && !slices.ContainsFunc(w.Volumes, Volume.left) && !w.outOfReach()
	}
	return w.outlives(g)
}

// needsUser reports whether the user has asked for nothing to be done, or has to do something first.
func (w *World) needsUser() bool {
	return w.Paused || w.Deleted || w.Legacy || w.SetBack || w.rolledBack() || w.Invalid && w.Status.Bootstrap == nil || w.unprovided() && w.Status.ID == 0 ||
		w.Status.RanBefore && w.asked() == 0 || w.Status.ID == 0 && w.stranger() || w.leaps() || w.nameless() || w.famished()
}

// nameless reports whether status was lost, and what is there does not say whose it is, or says so of several clusters.
func (w *World) nameless() bool {
	if w.Forgotten == 0 || w.Status.ID != 0 || w.Status.Bootstrap != nil || len(w.Pods)+len(w.Volumes) == 0 {
		return false
	}
	ids := map[uint64]bool{}
	for i := range w.Pods {
		if p := w.Pods[i].Permit; p != nil {
			ids[uint64(p.ClusterID)] = true
		}
	}
	for i := range w.Volumes {
		if id := w.Volumes[i].ClusterID; id != 0 {
			ids[id] = true
		}
	}
	return len(ids) != 1
}

// recoverableByGoingBack is recoverable for a restore that comes to nothing: what it was to replace is what counts.
func (w *World) recoverableByGoingBack() bool {
	g := w.Etcd.Group(w.Status.Previous.ID)
	if !w.undisturbed() || g == nil {
		return false
	}
	back := w.Clone()
	back.Status.Record = back.Status.Apply(plan.CancelRestore{}, plan.Observed{Cluster: back.cluster()})
	return back.outlives(g)
}

// outlives reports whether a quorum of that cluster's data does.
func (w *World) outlives(g *etcdtest.Group) bool {
	n, misleading := 0, false
	for i := range g.Members {
		m := &g.Members[i]
		if !m.Learner && w.survives(g, m) {
			n++
		}
		p := w.pod(m.Name)
		misleading = misleading || p != nil && p.Down && w.Etcd.Running(g.ID, m.ID)
	}
	if misleading && (w.Status.ID == 0 || len(g.Members) != w.Size || g.Voters() != w.Size) {
		return false
	}
	return n >= etcdtest.Quorum(g.Voters()) || w.Status.ID == 0 && !g.Written && !w.outOfReach()
}

// stranded counts the pods that stay for ever, dead or deleted, which nobody waits for: their members are replaced.
func (w *World) stranded() int {
	n := 0
	for i := range w.Pods {
		p, g := &w.Pods[i], w.group()
		if w.cfg.Silent && (p.Down || p.Held) && p.Overdue && g != nil && g.Named(p.Name) == nil {
			n++
		}
	}
	return n
}

// survives reports whether the member can go on if nobody gives its node another chance.
func (w *World) survives(g *etcdtest.Group, m *etcdtest.Member) bool {
	p := w.pod(m.Name)
	if p != nil && p.Mute {
		return false
	}
	staying := p.stays()
	dir := w.lasting(m.Name, p, staying)
	if dir == "" {
		return false
	}
	if d := w.Etcd.Disk(dir); d != nil {
		return d.ClusterID == g.ID && d.MemberID == m.ID
	}
	return staying && !m.Remembers && p.Permit != nil && uint64(p.Permit.MemberID) == m.ID &&
		p.Permit.PodUID == p.UID && p.Permit.Attempt > p.Used
}

// stays reports whether there is a pod, and nothing is about to end it.
func (p *Pod) stays() bool {
	return p != nil && !p.Deleting && !p.Evicting && !p.Down && p.Phase != plan.Finished
}

// tooLate reports whether a pod has not started in all the time that it may take.
func (p *Pod) tooLate() bool { return p.Phase == plan.Pending && p.Old }

// lasting is the directory of that name, empty if it is about to go.
func (w *World) lasting(name string, p *Pod, staying bool) string {
	if p != nil && !p.Persistent {
		if !staying {
			return ""
		}
		return p.UID
	}
	v := w.volume(name)
	if v == nil || v.Lost || v.Away && w.cfg.Razed || v.Deleting && !(staying && w.used(v)) {
		return ""
	}
	return v.UID
}
