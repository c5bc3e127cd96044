package plan

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// disputed reports whether the members' data differs, and no majority has proven whose is wrong: etcd's alarm CORRUPT names anybody but the member that
// is quarantined, or the last comparison found others to differ from each other than that one and a suspect. Anybody's data may be what is right then.
// So meanwhile no learner gets a vote, nobody goes whose data is there, and no volume is deleted that was a member's.
func (v *view) disputed() bool { return v.accused() || v.split() }

// accused reports whether etcd's alarm CORRUPT names anybody but the member that is quarantined.
func (v *view) accused() bool {
	return slices.ContainsFunc(v.alarmed(AlarmCorrupt), func(id uint64) bool {
		proven := id != 0 && id == v.Cluster.Quarantined.Member && (id == v.Quarantined.ID || !v.Etcd.lists(id))
		return !proven
	})
}

// split reports whether the last comparison found the data of two voters to differ of which neither is quarantined or suspected.
func (v *view) split() bool { return v.lastComparison(v.Quarantined.ID, v.suspect()).Differs() }

// lastComparison is the last one of the present voters, but for those; an empty one where nothing was compared, or Auto Pilot has no use for it.
func (v *view) lastComparison(but ...uint64) (last Comparison) {
	if n := len(v.Etcd.Compared); n > 0 && v.Cluster.Autopilot.Diverged != ModeOff {
		last = v.Etcd.Compared[n-1]
	}
	last.Hashes = slices.DeleteFunc(slices.Clone(last.Hashes), func(h MemberHash) bool {
		return slices.Contains(but, h.Member) || !slices.ContainsFunc(v.voters, func(m Member) bool { return m.ID == h.Member })
	})
	return last
}

// suspect is the ID of the voter that one of the comparisons found to differ from a majority that agreed, 0 if there is none, if it is quarantined, or if
// the last comparison does not find it to differ, too. A majority of then is remembered: one of those who agreed may have been lost since. Nobody goes
// because of a suspicion. As long as it lasts, no voter goes that does not have to: who is left might be the one that is wrong.
func (v *view) suspect() uint64 {
	last := v.lastComparison()
	if !last.Differs() {
		return 0
	}
	for _, c := range slices.Backward(v.Etcd.Compared) {
		id := c.outlier()
		if id != v.Quarantined.ID && slices.ContainsFunc(last.Hashes, func(h MemberHash) bool { return h.Member == id }) {
			return id
		}
	}
	return 0
}

// keepsAll reports whether no voter goes that does not have to: it is disputed whose data is right, or a member is suspected.
func (v *view) keepsAll() bool { return v.disputed() || v.suspect() != 0 }

// whyKept says why, and what ends it.
func (v *view) whyKept() string {
	if v.accused() {
		return "etcd's alarm CORRUPT stands: compare the members' data, then disarm it"
	}
	if i := slices.IndexFunc(v.Held, func(h HeldAct) bool { return h.Feature == FeatureDiverged }); i >= 0 {
		return v.Held[i].Message
	}
	return "the voters' data differs, and no majority tells whose is wrong: docs/autopilot.md says how to compare and repair"
}

// reportKept reports that members are too many, or are to be stopped, and go on as long as it is not known whose data is right.
func reportKept(v *view) Action {
	what := "no member that is too many is removed"
	switch {
	case !v.keepsAll():
		return nil
	case v.Cluster.Hibernate:
		what = "the members are not stopped"
	case !v.surplus(0):
		return nil
	}
	return Wait{Reason: v1beta2.ReasonDivergedMemberHeld, After: pollSlow, Message: what + ", because " + v.whyKept()}
}
