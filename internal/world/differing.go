package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Differing is what comparisons of the voters' data show. It is no more than what is said: it may change at any time, whatever the data is.
type Differing struct {
	// Odd is the ID of the member that differs from all others, 0 if none does. Twice is true once it did at two compactions. Split is true
	// while every voter differs from every other. Proven is true if there was a majority that agreed when it was found, Unseen while the operator has
	// compared nothing yet. Copy is the ID of a member that has its data from the odd one, 0 if none has.
	Odd, Copy                    uint64
	Twice, Split, Proven, Unseen bool
	// Evidence are the UIDs of the volumes of members that were quarantined.
	Evidence []string
}

// differing is what becomes known of the data.
var differing = map[Kind]transition{
	comparedAgain: {
		name:    "the next compaction shows the same",
		ifWorld: func(w *World) bool { return w.Unseen || w.Odd != 0 && !w.Twice },
		onWorld: func(w *World) { w.Twice, w.Unseen = !w.Unseen && w.Odd != 0, false },
	},
	dataDiffers: {
		name: "a compaction shows that a member's data differs",
		ifPod: func(w *World, p *Pod) bool {
			s, runs := w.server(p)
			return w.Odd == 0 && !w.Split && w.Status.ID != 0 && runs && s.member != nil && !s.member.Learner
		},
		onPod: func(w *World, p *Pod) {
			g := w.Etcd.Group(w.Status.ID)
			w.Odd, w.Twice, w.Unseen, w.Proven = w.disk(p).MemberID, false, false, g.Voters() >= majorityFrom
			for i := range w.Pods {
				if s, runs := w.server(&w.Pods[i]); runs && s.member != nil && s.member.Learner && s.disk.Synced {
					w.copies(g, s.member.ID)
				}
			}
		},
	},
	dataSplits: {
		name:    "a compaction shows that every member's data differs",
		ifWorld: func(w *World) bool { return w.Status.ID != 0 && !w.Split },
		onWorld: func(w *World) { w.Split, w.Unseen = true, false },
	},
	dataAgrees: {
		name:    "a compaction shows that the data is the same",
		ifWorld: func(w *World) bool { return w.Odd != 0 || w.Split },
		onWorld: (*World).agree,
	},
	dataRepaired: {
		name:    "somebody repairs the data of those who differ",
		ifWorld: func(w *World) bool { return !w.Trusted && (w.Split || w.suspects()) },
		onWorld: (*World).agree,
	},
}

// majorityFrom is of how many voters one can differ from a majority that agrees.
const majorityFrom = 3

// agree has all voters' data be the same.
func (w *World) agree() {
	w.Odd, w.Copy, w.Twice, w.Split, w.Proven, w.Unseen = 0, 0, false, false, false, false
	w.rehabilitate()
}

// suspects reports whether a member differs that is not quarantined.
func (w *World) suspects() bool {
	g := w.Etcd.Group(w.Status.ID)
	return g != nil && slices.ContainsFunc([]uint64{w.Odd, w.Copy}, func(id uint64) bool {
		return id != 0 && id != w.Status.Quarantined.Member && g.Member(id) != nil
	})
}

// unnoticed reports whether the operator has ended before it recorded what it had found.
func (w *World) unnoticed() bool { return w.Unseen && w.Status.Doubt == plan.Doubt{} }

// copies has a learner have the leader's data, whatever that is.
func (w *World) copies(g *etcdtest.Group, learner uint64) {
	if w.Odd != 0 && g.Leader == w.Odd {
		w.Copy = learner
	}
}

// forgetComparisons is what becomes of the operator's memory when it ends.
func (w *World) forgetComparisons() { w.Unseen = w.Odd != 0 || w.Split }

// DifferingFaults are what comparisons show, and etcd's own alarm.
var DifferingFaults = []Kind{dataDiffers, dataSplits, dataAgrees, alarmRaised}

// compared is what the operator remembers of its comparisons.
func (w *World) compared(e plan.Etcd) []plan.Comparison {
	marked := slices.ContainsFunc(w.Volumes, func(v Volume) bool {
		return v.Quarantined && slices.ContainsFunc(e.Members, func(m plan.Member) bool { return m.ID == v.MemberID })
	})
	known := w.Odd != 0 || w.Split || w.Status.Quarantined.Member != 0 || w.Status.Doubt != plan.Doubt{} || marked // only of these anybody can be rehabilitated
	if !known || w.Unseen {
		return nil
	}
	var same, now plan.Comparison
	same.Revision, now.Revision = 1, 2
	for i, m := range e.Members {
		if m.Learner {
			continue
		}
		hash := int64(0)
		switch {
		case w.Split:
			hash = int64(i) + 1
		case m.ID == w.Odd, m.ID == w.Copy:
			hash = 1
		}
		same.Hashes = append(same.Hashes, plan.MemberHash{Member: m.ID})
		now.Hashes = append(now.Hashes, plan.MemberHash{Member: m.ID, Hash: hash})
	}
	if w.Twice {
		same.Hashes = now.Hashes
	}
	return []plan.Comparison{same, now}
}

// corruption is the alarm that etcd raises when it finds out by itself.
func (w *World) corruption(g *etcdtest.Group) plan.Alarm {
	a := plan.Alarm{Kind: plan.AlarmCorrupt, Member: g.Leader}
	if w.cfg.Autopilot.Diverged == plan.ModeOn {
		a.Member = w.Odd
	}
	return a
}

// disarmCorrupt takes the alarm about a member's data back.
func (w *World) disarmCorrupt(e plan.Disarm) bool {
	g := w.Etcd.Group(w.Status.ID)
	if g == nil || g.Leader == 0 {
		return false
	}
	if g.Member(e.Member) != nil {
		w.violate("S2: the alarm about %016x is disarmed while that is a member", e.Member)
	}
	if w.corruption(g) == e.Alarm {
		w.Alarm = false
	}
	return true
}

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
	quarantined := w.Status.Quarantined.Member
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
	if !removes || w.Trusted || w.unnoticed() || !w.suspects() {
		return
	}
	m, p := g.Member(act.ID), w.pod(act.Name)
	if m != nil && !m.Learner && act.ID != w.Status.Quarantined.Member && w.hasData(g, act) && p.stays() && !p.Stuck && !p.tooLate() {
		w.violate("S2: %s is removed (%s) while another member may have the wrong data", act.Name, act.Why)
	}
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
	return differs && seenToLead(o, w.Status.Quarantined.Member) || !w.Trusted && suspect == w.Odd && seenToLead(o, suspect)
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
