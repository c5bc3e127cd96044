package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// standing reports whether the cluster whose ID is recorded has a quorum of voters that nobody has told to go. Of an effect that
// comes late only evictions are held against the operator, for a closed budget rules them out; what else may have befallen a
// member since it was looked at cannot be ruled out by anybody, and is not counted.
func (w *World) standing(late bool) bool {
	g := w.Etcd.Group(w.Status.ID)
	if w.Status.ID == 0 || g == nil {
		return false
	}
	n := 0
	for _, m := range g.Members {
		if !m.Learner && w.stands(g, &m, late) {
			n++
		}
	}
	return n >= etcdtest.Quorum(g.Voters())
}

func (w *World) stands(g *etcdtest.Group, m *etcdtest.Member, late bool) bool {
	p := w.pod(m.Name)
	if p != nil && p.Evicting {
		return false
	}
	if late {
		return true
	}
	return p != nil && !p.Deleting && !p.Restarting && !p.Busy && w.Etcd.Running(g.ID, m.ID)
}

// checkEffect is S1: what the operator does never makes the voters lose their quorum.
func (w *World) checkEffect(a plan.Action, before, after bool) {
	commit, _ := a.(plan.CommitBootstrap)
	if before && !after && commit.Bootstrap.Restore == "" && !w.pauses(a) && !w.stops(a) {
		w.violate("S1: %T took the quorum away", a)
	}
	w.checkHarm()
	if _, ok := a.(plan.AddLearner); ok {
		w.checkLearners()
	}
}

// checkTurn is for a member that is told to stop, before it is: one at a time, the leader only after it has handed over,
// and no version that the cluster forbids. A pass that comes late may meet a world that has moved on.
func (w *World) checkTurn(a plan.Action) {
	name, version := "", ""
	switch act := a.(type) {
	case plan.SetImage:
		name, version = act.Name, act.Version
	case plan.Recreate:
		name, version = act.Name, act.Version
		w.checkAnew(name)
	default:
		w.checkUpkeep(a)
		return
	}
	g := w.Etcd.Group(w.Status.ID)
	if g == nil || g.Named(name) == nil {
		return
	}
	if v := w.volume(name); v != nil && v.Version != version {
		w.violate("U: %s is given %s, and its volume is marked with %q", name, version, v.Version)
	}
	if minor := minorOf(version); minor < g.Version || minor > g.Version+1 {
		w.violate("U: %s is given %s in a cluster of version %s", name, version, minorName(g.Version))
	}
	if m := g.Named(name); m.Learner || !w.stands(g, m, false) || g.Leader == 0 {
		return
	}
	if g.Leader == g.Named(name).ID && g.Voters() > 1 {
		w.violate("U: %s is told to stop while it leads", name)
	}
	for i := range g.Members {
		if m := &g.Members[i]; m.Name != name && !m.Learner && !w.stands(g, m, false) {
			w.violate("U: %s is told to stop while %s is down", name, m.Name)
		}
	}
}

// checkLearners holds for etcd 3.5, which takes one learner at a time: others would count differently.
func (w *World) checkLearners() {
	g := w.Etcd.Group(w.Status.ID)
	if g == nil { // status was lost while the operator was held up
		return
	}
	n := 0
	for _, m := range g.Members {
		if m.Learner {
			n++
		}
	}
	if n > w.learners() {
		w.violate("U: %d learners in a cluster where etcd 3.5 runs", n)
	}
}

// checkHarm is S4 and S5: what the servers themselves must never be made to do.
func (w *World) checkHarm() {
	if w.Etcd.Harm != "" {
		w.violate("S4/S5: %s", w.Etcd.Harm)
	}
}

// checkDecision is what must hold of a decision made on a live view: S6, and parts of S2 and S5.
func (w *World) checkDecision(a plan.Action, o *plan.Observed) {
	if !plan.Mutates(a) {
		return
	}
	if o.Cluster.Paused || o.Cluster.Deleting {
		w.violate("P: %T although nothing is to be done", a)
	}
	for _, answer := range o.Etcd.Answers {
		if p := w.pod(answer.Pod); p != nil && p.Lie != honest {
			continue // it says what it likes
		}
		if o.Cluster.ID != 0 && answer.ClusterID != o.Cluster.ID {
			w.violate("S6: %T although %s answers for another cluster", a, answer.Pod)
		}
	}
	if o.Etcd.RevisionCeiling != 0 && o.Etcd.RevisionCeiling < o.Cluster.Revision {
		w.violate("S6: %T although the revision went backwards", a)
	}
	if create, ok := a.(plan.CreatePods); ok {
		for _, p := range create.Pods {
			if v := w.volume(p.Name); v != nil && (v.Deleting || v.Lost) {
				w.violate("S5: a pod is created on volume %s, which is going away", v.Name)
			}
		}
	}
	if remove, ok := a.(plan.RemoveMember); ok {
		w.checkRemoval(remove, o)
		w.checkMoved(remove)
	}
	w.checkAllowed(a)
	w.checkDisputed(a, o)
	w.checkFed(a, o)
	w.checkHibernation(a)
	w.checkAutopilot(a, o)
	if commit, ok := a.(plan.CommitBootstrap); ok {
		w.checkStart(commit)
		w.checkGivenUp(commit.Bootstrap)
	}
	if create, ok := a.(plan.CreateRestore); ok {
		w.checkConfirmed(create)
	}
}

// checkAutopilot is what must hold of a member that Auto Pilot has be replaced, or that tries a release.
func (w *World) checkAutopilot(a plan.Action, o *plan.Observed) {
	switch act := a.(type) {
	case plan.Quarantine:
		w.checkQuarantine(act, o)
	case plan.CommitRelocation:
		if act.GivenUp == "" {
			w.checkRelocation(act)
		}
	default:
		w.checkTrial(a)
	}
}

// checkStart holds for a first start from nothing: that is never done in the place of data that is to come, or was there.
func (w *World) checkStart(act plan.CommitBootstrap) {
	if w.Status.ID != 0 || w.Status.Bootstrap != nil || act.Bootstrap.Restore != "" {
		return
	}
	switch {
	case w.Invalid:
		w.violate("P: a first start from a spec that cannot work")
	case w.FromSnapshot || w.Status.RanBefore || w.Legacy:
		w.violate("S3: a first start from nothing in the place of data")
	case slices.ContainsFunc(w.Volumes, func(v Volume) bool { return v.left() && !v.Lost && !v.Deleting }):
		w.violate("S3: a first start from nothing beside data")
	}
}

// checkRemoval is the spirit of S2: a member goes if there are too many, if its data is gone, or if it cannot run where
// it is; never for a trouble that will pass.
func (w *World) checkRemoval(act plan.RemoveMember, o *plan.Observed) {
	g := w.Etcd.Group(w.Status.ID)
	if g == nil || len(g.Members) > w.Size || act.ID == w.quarantined() {
		return
	}
	m, p := g.Member(act.ID), w.pod(act.Name)
	if m != nil && m.Learner && (w.wrongLeads(o) || seenToLead(o, w.Odd)) {
		return // it may have the wrong data
	}
	stays := p == nil || !p.Stuck && !p.tooLate() && !p.Down && !p.Overdue && !w.doomed(p)
	if m != nil && m.Published && stays && w.survives(g, m) {
		w.violate("S2: %s is removed (%s) although its data is sound", m.Name, act.Why)
	}
}

// doomed reports whether etcd cannot run in the pod and no other pod can have its data: the volume goes with this one.
func (w *World) doomed(p *Pod) bool {
	v := w.volume(p.Name)
	return p.Persistent && v != nil && v.Deleting && (p.Sick || w.ends(p))
}

// checkVolumeDeletion is S2, before the cluster ID is recorded for the data of the attempt that is under way, and of what a
// restore replaces S7.
func (w *World) checkVolumeDeletion(v *Volume) {
	if !v.Owned || v.Foreign != "" {
		w.violate("S2: claim %s is deleted, which is not the cluster's", v.Name)
		return
	}
	defer w.checkKept(v) // of several violations the first one counts
	if w.replaced(v) {
		if !w.standing(!w.undisturbed()) {
			w.violate("S7: volume %s is deleted before the restored cluster is up", v.Name)
		}
		w.checkReplaced(v)
		return
	}
	g := w.group()
	if g == nil {
		return
	}
	if m := g.Named(v.Name); m != nil && (v.MemberID == 0 || v.MemberID == m.ID) && w.Status.ID != 0 {
		w.violate("S2: volume %s of a listed member is deleted", v.Name)
	}
	if d := w.Etcd.Disk(v.UID); d != nil {
		if other := w.Etcd.Group(d.ClusterID); other != nil && other.Written && other.Member(d.MemberID) != nil {
			w.violate("S2: volume %s is deleted, which holds acknowledged data", v.Name)
		}
	}
}

// replaced reports whether a restore has taken the place of what is on the volume.
func (w *World) replaced(v *Volume) bool {
	return restoreOf(w.Status.Bootstrap) != "" && v.Incarnation < w.Status.Incarnations.FirstRestore &&
		!w.Status.Current(v.Incarnation)
}

// checkServing holds for a restore: nobody is let into the new cluster while the old one can be reached.
func (w *World) checkServing(p *Pod) {
	for i := range w.Pods {
		old := &w.Pods[i]
		if old.Serving && old.Permit != nil && p.Permit != nil && old.Permit.ClusterID != p.Permit.ClusterID {
			w.violate("S7: clients reach %s, and %s of another cluster", p.Name, old.Name)
		}
	}
}

// checkAbandoned is S3: another attempt never leaves acknowledged data behind, and there is none after the cluster ID is recorded.
func (w *World) checkAbandoned(next *plan.Bootstrap, stale bool) {
	if stale {
		return // the write is refused
	}
	w.checkNumber(next)
	if next.Restore != restoreOf(w.Status.Bootstrap) {
		if n := numberOf(next); n == 0 || n > w.asked() {
			w.violate("S7: the data is replaced, and nobody has asked for it")
		}
		w.checkEmptyDirs(next)
		return
	}
	if w.Status.ID != 0 {
		w.violate("S3: a first start is committed after the cluster ID was recorded")
	}
	b := w.Status.Bootstrap
	if b == nil || b.ClusterID == next.ClusterID {
		return
	}
	g := w.Etcd.Group(b.ClusterID)
	if g == nil || !g.Written {
		return
	}
	for i := range g.Members {
		m := &g.Members[i]
		if d := w.Etcd.Data(g.ID, m.ID); d != nil && d.Synced && w.survives(g, m) {
			w.violate("S3: attempt %d leaves the data of %s of attempt %d behind", next.Incarnation, m.Name, b.Incarnation)
		}
	}
}

// checkEviction is the other half of S1: a budget that the operator left open never lets one eviction take the quorum.
func (w *World) checkEviction(before, after bool) {
	if before && !after {
		w.violate("S1: the budget (%d) lets an eviction take the quorum away", w.Budget.Min)
	}
}
