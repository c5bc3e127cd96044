package plan

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Doubt is what comparisons have found of the voters' data and no later ones have disproved. It is recorded: a new process of the operator has
// compared nothing yet, and a majority that agreed counts even if one of it is lost later.
type Doubt struct {
	// Suspect is the ID of the voter that differs from a majority that agreed, 0 if there is none, or if it is quarantined.
	Suspect uint64 `json:",string"`
	// Split is true if no majority agreed from which exactly one voter differed, who is quarantined left aside.
	Split bool `json:",omitempty"`
}

// heeded is the doubt that decisions go by. A user who switches the feature itself off says that whose data is right is up to them, so nothing is held up
// for it; a pause, or what bounds all features, says nothing of it. It is recorded all the same: no older backup goes, and none is taken of a suspect.
func (v *view) heeded() Doubt {
	if v.Cluster.Autopilot.Trusted {
		return Doubt{}
	}
	return v.doubt()
}

// doubt is the recorded one with what this observation says. It ends once two comparisons have found the data of all to be the same, or those who
// differed are gone.
func (v *view) doubt() Doubt {
	d := v.Cluster.Doubt
	switch n := len(v.Etcd.Compared); {
	case v.Etcd.Contact != ContactQuorum:
		return d
	case v.agreeBut(v.Quarantined.ID):
		return Doubt{}
	case v.Cluster.Quarantined == (Quarantined{}) && len(v.marked()) > 1: // whose data is wrong is not known any more
		d = Doubt{Split: true}
	case n > 0 && v.concerns(v.Etcd.Compared[n-1]):
		d = v.found(v.Etcd.Compared[n-1], d)
	}
	left := slices.DeleteFunc(slices.Clone(v.voters), func(m Member) bool { return m.ID == v.Quarantined.ID })
	if !slices.ContainsFunc(left, func(m Member) bool { return m.ID == d.Suspect }) {
		d.Suspect = 0
	}
	d.Split = d.Split && len(v.voters) > 1
	return d
}

// found is what a comparison of all voters adds to what is in doubt. Who was suspected stays so if all others agree, although they may be too few to
// prove it. A majority against anybody else is none: it may be of those who are left, or have copied what is wrong.
func (v *view) found(c Comparison, before Doubt) Doubt {
	rest := c.without(v.Quarantined.ID)
	id := rest.outlier()
	switch {
	case !rest.Differs():
		return before
	case before.Split:
		return Doubt{Split: true}
	case before.Suspect != 0 && !rest.without(before.Suspect).Differs():
		return before
	case before.Suspect == 0 && id != 0 && len(rest.Hashes)-1 >= Quorum(len(v.voters)):
		return Doubt{Suspect: id}
	}
	return Doubt{Split: true}
}

func (c Comparison) without(id uint64) Comparison {
	c.Hashes = slices.DeleteFunc(slices.Clone(c.Hashes), func(h MemberHash) bool { return h.Member == id })
	return c
}

// disputed reports whether the members' data differs, and no majority has proven whose is wrong: etcd's alarm CORRUPT names anybody but the member that
// is quarantined, or comparisons have found that no majority agrees. Anybody's data may be what is right then. So meanwhile nobody joins or gets a vote,
// nobody goes whose data is there, no volume is deleted that was a member's, and no voter is restarted for an update.
func (v *view) disputed() bool { return v.accused() || v.Doubt.Split }

// accused reports whether etcd's alarm CORRUPT names anybody but the member that is quarantined.
func (v *view) accused() bool {
	return slices.ContainsFunc(v.alarmed(AlarmCorrupt), func(id uint64) bool {
		proven := id != 0 && id == v.Cluster.Quarantined.Member && (id == v.Quarantined.ID || !v.Etcd.lists(id))
		return !proven
	})
}

// keepsAll reports whether no voter goes that does not have to: it is disputed whose data is right, or one is suspected. Nobody goes because of a
// suspicion, but who is left might be the one that is wrong.
func (v *view) keepsAll() bool { return v.disputed() || v.Doubt.Suspect != 0 }

// whyKept says why, and what ends it.
func (v *view) whyKept() string {
	if v.accused() {
		return "etcd's alarm CORRUPT stands: compare the members' data, then disarm it"
	}
	if i := slices.IndexFunc(v.Held, func(h HeldAct) bool { return h.Feature == FeatureDiverged }); i >= 0 {
		return v.Held[i].Message
	}
	if doubt := v.inDoubt(); doubt != nil {
		return doubt.Message
	}
	return "it is not known whose data is right"
}

// inDoubt says what is not known of the data; nil if nothing is.
func (v *view) inDoubt() *HeldAct {
	d := v.doubt()
	m, _ := v.memberByID(d.Suspect)
	switch {
	case v.Cluster.Autopilot.Trusted && d != (Doubt{}):
		return &HeldAct{Reason: v1beta2.ReasonDivergedMemberHeld, Message: "the voters' data was found to differ, and with mode Off nothing but the deletion " +
			"of older backups waits until two compactions in a row show it to be the same; " + howToCompare()}
	case d.Split:
		return unclear("the voters' data was found to differ, and there was no majority from which exactly one differed")
	case m.ID != 0:
		counts := "that counts "
		if v.Cluster.Autopilot.Diverged == ModeOff {
			counts = "with mode On that counts "
		}
		return &HeldAct{Reason: v1beta2.ReasonDivergedMemberHeld, Message: "the data of " + m.Name + " was found to differ from the others': " + counts +
			"once two compactions in a row show it, with two or more others that agree. If nobody compacts, run etcdctl compact REVISION three times, " +
			"five minutes apart and each at a higher revision; " + howToCompare()}
	}
	return nil
}

// besidesDispute adds to what is waited for that it is not replaced meanwhile.
func (v *view) besidesDispute(a Action) Action {
	if wait, waits := a.(Wait); waits && v.disputed() {
		wait.Message += "; nobody is replaced, because " + v.whyKept()
		return wait
	}
	return a
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
