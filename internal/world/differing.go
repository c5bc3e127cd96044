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

// quarantined is the ID of the member that is known to be quarantined, 0 if none is: status says so, or, as long as no quorum has answered since that was
// lost, the mark of one listed member's volume.
func (w *World) quarantined() uint64 {
	if id := w.Status.Quarantined.Member; id != 0 || len(w.Status.Voters) > 0 {
		return id
	}
	id, g := uint64(0), w.Etcd.Group(w.Status.ID)
	for i := range w.Volumes {
		v := &w.Volumes[i]
		if !v.Quarantined || g == nil || g.Member(v.MemberID) == nil {
			continue
		}
		if id != 0 {
			return 0
		}
		id = v.MemberID
	}
	return id
}

// suspects reports whether a member differs that is not quarantined.
func (w *World) suspects() bool {
	g := w.Etcd.Group(w.Status.ID)
	return g != nil && slices.ContainsFunc([]uint64{w.Odd, w.Copy}, func(id uint64) bool {
		return id != 0 && id != w.quarantined() && g.Member(id) != nil
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
func (w *World) forgetComparisons() { w.Unseen = w.Odd != 0 || w.Split || w.quarantined() != 0 }

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
