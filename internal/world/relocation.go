package world

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// relocating is what becomes known of the members' disks within hours. It is no more than what is said: it may change at any time.
var relocating = map[Kind]transition{
	diskDrags: {
		name:  "disk has been slow for an hour",
		ifPod: func(w *World, p *Pod) bool { return !p.Drags && w.serverRuns(p) },
		onPod: func(_ *World, p *Pod) { p.Drags = true },
	},
	diskRecovers: {
		name:  "disk has been quick again",
		ifPod: func(_ *World, p *Pod) bool { return p.Drags },
		onPod: func(_ *World, p *Pod) { p.Drags = false },
	},
}

// RelocationFaults are disks that are slow for long, and quick again.
var RelocationFaults = []Kind{diskDrags, diskRecovers}

// histories are how the voters' disks did.
func (w *World) histories(members []plan.Member) (all []plan.DiskHistory) {
	if w.cfg.Autopilot.Relocation == plan.ModeOff {
		return nil
	}
	quick := 0
	for _, m := range members {
		if p := w.pod(m.Name); !m.Learner && p != nil && !p.Drags && w.serverRuns(p) {
			quick++
		}
	}
	for _, m := range members {
		p := w.pod(m.Name)
		if m.Learner || p == nil || !w.serverRuns(p) {
			continue
		}
		h := plan.DiskHistory{Pod: p.Name, PodUID: p.UID, Samples: plan.HistorySamples}
		if p.Drags {
			h.Slow = h.Samples
		}
		if p.Drags && quick > 0 {
			h.Alone = h.Samples
		}
		all = append(all, h)
	}
	return all
}

// relocates reports whether there is a relocation of which some deadline has not passed.
func (s *Status) relocates() bool { return s.Relocation.Member != 0 && s.Relocation.Since.After(given) }

// given is when a relocation began that is given up because of its time alone. In between there is one that is given up unless its new member
// runs.
var given = base.Add(-time.Hour)

// later is when it would have begun had the next deadline passed.
func later(since time.Time) time.Time {
	if since.Equal(base) {
		return base.Add(-10 * time.Minute)
	}
	return given
}

// checkRelocation is what must hold as a member is to be moved: it is the only one within a day, its disk is slow and another one's is not, and
// all voters run, of which there are three or more.
func (w *World) checkRelocation(act plan.CommitRelocation) {
	g := w.Etcd.Group(w.Status.ID)
	if g == nil {
		return
	}
	if w.Status.Relocation != (plan.Relocation{}) {
		w.violate("R: %s is moved, and another one was within a day", act.Name)
	}
	voters, quick := 0, false
	for i := range g.Members {
		m := &g.Members[i]
		p := w.pod(m.Name)
		switch {
		case m.Learner:
			w.violate("R: %s is moved without margin: %s is a learner", act.Name, m.Name)
		case !w.Etcd.Running(g.ID, m.ID):
			w.violate("R: %s is moved without margin: %s does not run", act.Name, m.Name)
		case m.Name == act.Name && p != nil && !p.Drags:
			w.violate("R: %s is moved, and its disk is quick", act.Name)
		}
		quick = quick || p != nil && !p.Drags
		voters++
	}
	if !quick {
		w.violate("R: %s is moved although all disks are slow", act.Name)
	}
	if voters < 3 {
		w.violate("R: %s is moved without margin: there are %d voters", act.Name, voters)
	}
}

// checkPlace holds for the pod that is to take the place of a member which is moved: it is never where that is.
func (w *World) checkPlace(n plan.NewPod) {
	r := w.Status.Relocation
	g := w.Etcd.Group(w.Status.ID)
	if r.Member == 0 || g == nil || g.Member(r.Member) == nil {
		return
	}
	votes, missing := false, len(g.Members) < w.Size
	for _, m := range g.Members {
		votes = votes || m.Name == n.Name && !m.Learner
	}
	if !votes && !missing && n.Avoid != (plan.Avoidance{Node: r.Node, Strictly: true}) {
		w.violate("R: the pod of %s may be where %s is moved away from", n.Name, r.Name)
	}
}

// checkMoved is what must hold as the former member goes: all others run, or it is one of those that do not.
func (w *World) checkMoved(act plan.RemoveMember) {
	g := w.Etcd.Group(w.Status.ID)
	if g == nil || act.ID == 0 || act.ID != w.Status.Relocation.Member || !w.Etcd.Running(g.ID, act.ID) {
		return
	}
	for i := range g.Members {
		if m := &g.Members[i]; !m.Learner && m.ID != act.ID && !w.Etcd.Running(g.ID, m.ID) {
			w.violate("R: %s is moved away from, while %s does not run", act.Name, m.Name)
		}
	}
}

func (e *encoder) relocation(r plan.Relocation) {
	if r == (plan.Relocation{}) {
		return
	}
	e.named(markRelocation, r.Name)
	e.id(r.Member)
	e.id(r.Successor)
	e.number(int(base.Sub(r.Since) / time.Minute))
	e.named(markGivenUp, r.GivenUp)
}
