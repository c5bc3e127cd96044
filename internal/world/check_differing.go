package world

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// checkQuarantine is S2 for a member whose data differs: a majority of all voters agrees, and proves it wrong.
func (w *World) checkQuarantine(act plan.Quarantine, o *plan.Observed) {
	voters := 0
	for _, m := range o.Etcd.Members {
		if !m.Learner {
			voters++
		}
	}
	if act.Member != w.Odd && act.Member != w.Copy || w.Split || voters < 3 || !w.Twice && !w.Alarm {
		w.violate("S2: %s is quarantined, and no majority proves its data wrong", act.Name)
	}
	if v := w.volume(act.Name); v != nil && v.MemberID == act.Member && act.VolumeUID != v.UID {
		w.violate("S2: %s is quarantined, and its volume is not kept", act.Name)
	}
}

// checkProven is S2 for who is recorded as quarantined: either this pass has decided that, or no quorum has answered since status was lost.
func (w *World) checkProven(a plan.Action, q plan.Quarantined) {
	if _, decided := a.(plan.Quarantine); !decided && q.Member != 0 && q != w.Status.Quarantined && len(w.Status.Voters) > 0 {
		w.violate("S2: %s is taken for quarantined, and nothing proves its data wrong", q.Name)
	}
}

// checkFed is S2 for those who get their data from the leader: it must not be the one whose data is wrong.
func (w *World) checkFed(a plan.Action, o *plan.Observed) {
	switch act := a.(type) {
	case plan.AddLearner:
		if w.wrongLeads(o) {
			w.violate("S2: %s is to learn from a leader whose data is wrong", act.Name)
		}
	case plan.Promote:
		if w.wrongLeads(o) {
			w.violate("S2: %s is promoted by a leader whose data is wrong", act.Name)
		}
	default:
	}
}

// checkDisputed is S2 while nobody knows whose data is right: anybody's may be.
func (w *World) checkDisputed(a plan.Action, o *plan.Observed) {
	g := w.Etcd.Group(w.Status.ID)
	if g == nil || slices.ContainsFunc(w.Pods, func(p Pod) bool { return p.Lie != honest }) {
		return
	}
	if !w.disputed(g) {
		w.checkSuspected(a, g)
		return
	}
	switch act := a.(type) {
	case plan.Promote:
		w.violate("S2: %s is to vote while nobody knows whose data is right", act.Name)
	case plan.RemoveMember:
		copied := w.wrongLeads(o) && !slices.ContainsFunc(o.Etcd.Members, func(m plan.Member) bool { return m.ID == act.ID && !m.Learner })
		if w.hasData(g, act) && !copied { // a learner has no more than the leader
			w.violate("S2: %s is removed (%s), and its data may be what is right", act.Name, act.Why)
		}
	case plan.DeleteVolume:
		if v := w.volume(act.Name); v != nil && v.MemberID != 0 && !v.Lost {
			w.violate("S2: volume %s is deleted, and its data may be what is right", act.Name)
		}
	case plan.SetImage:
		w.checkRestarted(g, act.Name)
	case plan.Recreate:
		w.checkRestarted(g, act.Name)
	default:
	}
}

// checkRestarted is for a voter that gets another pod or image while nobody knows whose data is right: none that runs.
func (w *World) checkRestarted(g *etcdtest.Group, name string) {
	p, m := w.pod(name), g.Named(name)
	if p != nil && m != nil && !m.Learner && w.serverRuns(p) {
		w.violate("S2: %s is restarted while nobody knows whose data is right", name)
	}
}

// disputed reports whether etcd or a comparison says that data differs, and nobody is quarantined for that. What comparisons say is up to a user who
// judges the data themselves.
func (w *World) disputed(g *etcdtest.Group) bool {
	quarantined := w.quarantined()
	accused, others := w.corruption(g).Member, g.Voters()
	if m := g.Member(quarantined); m != nil && !m.Learner {
		others--
	}
	odd := g.Member(w.Odd)
	return w.Alarm && (accused == 0 || accused != quarantined) || !w.Trusted && !w.unnoticed() && (w.Split && others > 1 ||
		w.suspects() && !w.Proven && g.Voters() == majorityFrom-1 && odd != nil && !odd.Learner)
}

// checkSuspected is S2 while a majority agrees, and one that differs was not proven wrong yet: no voter goes that can stay.
func (w *World) checkSuspected(a plan.Action, g *etcdtest.Group) {
	act, removes := a.(plan.RemoveMember)
	m := g.Member(act.ID)
	if !removes || m == nil || m.Learner || m.ID == w.quarantined() || !w.hasData(g, act) {
		return
	}
	if act.Why == v1beta2.ReasonScaling && w.wrongStays(g) {
		w.violate("S2: %s is removed (%s), and a quarantined member stays", act.Name, act.Why)
	}
	p := w.pod(act.Name)
	if !w.Trusted && !w.unnoticed() && w.suspects() && p.stays() && !p.Stuck && !p.tooLate() {
		w.violate("S2: %s is removed (%s) while another member may have the wrong data", act.Name, act.Why)
	}
}

// wrongStays reports whether a voter is quarantined whose data differs.
func (w *World) wrongStays(g *etcdtest.Group) bool {
	m := g.Member(w.quarantined())
	return m != nil && !m.Learner && slices.Contains([]uint64{w.Odd, w.Copy}, m.ID)
}

// hasData reports whether the data of a member that is removed is there.
func (w *World) hasData(g *etcdtest.Group, act plan.RemoveMember) bool {
	p := w.pod(act.Name)
	d := w.Etcd.Disk(w.lasting(act.Name, p, p.stays()))
	return d != nil && d.Synced && d.ClusterID == g.ID && d.MemberID == act.ID
}

// wrongLeads reports whether the operator sees a member lead that is quarantined, or that it has found to differ, unless all data is the same by now.
func (w *World) wrongLeads(o *plan.Observed) bool {
	suspect, differs := w.Status.Doubt.Suspect, w.Odd != 0 || w.Split
	return differs && seenToLead(o, w.quarantined()) || !w.Trusted && suspect == w.Odd && seenToLead(o, suspect)
}

func seenToLead(o *plan.Observed, id uint64) bool {
	return id != 0 && slices.ContainsFunc(o.Etcd.Answers, func(a plan.Answer) bool { return a.MemberID == id && a.Leader == id })
}

// keepEvidence notes whose volume is to be kept from now on.
func (w *World) keepEvidence(a plan.Action) {
	if act, ok := a.(plan.Quarantine); ok && act.VolumeUID != "" && !slices.Contains(w.Evidence, act.VolumeUID) {
		w.Evidence = append(slices.Clip(w.Evidence), act.VolumeUID)
	}
}

// rehabilitate ends that the volumes of present members are evidence: their data is right.
func (w *World) rehabilitate() {
	g := w.Etcd.Group(w.Status.ID)
	if g == nil {
		return
	}
	w.Evidence = slices.DeleteFunc(slices.Clone(w.Evidence), func(uid string) bool {
		i := slices.IndexFunc(w.Volumes, func(v Volume) bool { return v.UID == uid })
		return i >= 0 && g.Member(w.Volumes[i].MemberID) != nil
	})
}

// checkEvidence is S2 for such a volume.
func (w *World) checkEvidence(v *Volume) {
	if slices.Contains(w.Evidence, v.UID) {
		w.violate("S2: volume %s of a quarantined member is deleted", v.Name)
	}
}
