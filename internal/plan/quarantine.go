package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Quarantined is a member that is replaced because its data differs from what a majority of the voters agrees on.
type Quarantined struct {
	Member uint64 `json:",string"`
	Name   string
	// VolumeUID is its volume, which is kept; empty if its data is on an emptyDir.
	VolumeUID string
}

// remembered is the quarantine that is recorded, or, if status was lost, what the mark of a volume says of it. If several are marked, it is not known
// who was proven wrong: see doubt.
func (v *view) remembered() Quarantined {
	marked := v.marked()
	if v.Cluster.Quarantined != (Quarantined{}) || len(marked) != 1 || v.agree() {
		return v.Cluster.Quarantined
	}
	return Quarantined{Member: marked[0].MemberID, Name: marked[0].Name, VolumeUID: marked[0].UID}
}

// marked are the volumes that are marked as those of quarantined members which are listed, or which etcd's alarm names. They count only before a quorum
// has answered for the first time since status was lost: from then on status says who is quarantined, and a mark may be left of one whose data is right.
func (v *view) marked() []Volume {
	if v.Etcd.Contact != ContactQuorum || len(v.Cluster.Voters) > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(v.Volumes, v.keptVolumes), func(c Volume) bool {
		counts := v.Etcd.lists(c.MemberID) || slices.Contains(v.alarms(), Quarantined{Member: c.MemberID}.alarm())
		return !c.Quarantined || c.MemberID == 0 || !counts
	})
}

// quarantined returns the listed member whose quarantine is recorded, the zero Member if there is none, or if its data is right again.
func (v *view) quarantined() Member {
	m, listed := v.memberByID(v.Cluster.Quarantined.Member)
	if !listed || m.Name != v.Cluster.Quarantined.Name || v.agree() {
		return Member{}
	}
	return m
}

// replacesQuarantined reports whether that member is replaced. Where Auto Pilot may not act any more, it only stays away from clients.
func (v *view) replacesQuarantined() bool {
	return v.Quarantined.ID != 0 && v.Cluster.Autopilot.Diverged == ModeOn
}

// evidence reports whether the volume was that of a quarantined member which a quorum lists no more.
func (o Observed) evidence(c Volume) bool {
	q := o.Cluster.Quarantined
	recorded := q.VolumeUID != "" && q.VolumeUID == c.UID
	return (recorded || c.Quarantined && o.Cluster.currentVolume(c)) && o.Etcd.Contact == ContactQuorum && !o.Etcd.lists(c.MemberID)
}

// mayBeEvidence reports whether the volume is marked as that of a quarantined member, and neither a quorum nor status says what has become of that. As
// long as a cluster starts, status says who its members are.
func (o Observed) mayBeEvidence(c Volume) bool {
	if o.Cluster.ID == 0 && o.Cluster.Bootstrap != nil {
		return false
	}
	voter := slices.Contains(o.Cluster.Voters, c.Name) || slices.Contains(o.Cluster.NextVoters, c.Name)
	return c.Quarantined && !slices.Contains(o.Cluster.KeptUIDs, c.UID) && o.Cluster.currentVolume(c) && o.Etcd.Contact != ContactQuorum && !voter
}

// setAside are the volumes that may be evidence.
func (v *view) setAside() []Volume {
	return slices.DeleteFunc(slices.Clone(v.keptVolumes), func(c Volume) bool { return !v.mayBeEvidence(c) })
}

// MarkedMember reports whether the volume of a listed member is marked as that of a quarantined one.
func (o Observed) MarkedMember() bool {
	return slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.Quarantined && o.Etcd.lists(c.MemberID) })
}

func (e Etcd) lists(id uint64) bool {
	return slices.ContainsFunc(e.Members, func(m Member) bool { return m.ID == id })
}

// quarantineOver reports whether the recorded quarantine is over: the member has gone, its alarm too, and its volume is recorded as kept; or
// its data was found to be the majority's again, at two compactions as it was found not to be. The mode does not matter: to switch Auto
// Pilot off does not make the data right.
func (v *view) quarantineOver(q Quarantined) bool {
	if v.Etcd.lists(q.Member) {
		return v.agree()
	}
	return !slices.Contains(v.Alarms, q.alarm())
}

// DataAgrees reports whether the data of all voters was found to be the same at the last two compactions that were compared.
func (o Observed) DataAgrees() bool { return o.Etcd.Contact == ContactQuorum && newView(o).agree() }

// agree reports whether the last two comparisons found the data of all present voters to be the same, or there is but one.
func (v *view) agree() bool { return v.agreeBut(0) }

// agreeBut is that of all but one of them.
func (v *view) agreeBut(id uint64) bool {
	return len(v.voters) == 1 || len(v.Etcd.Compared) > 1 && !slices.ContainsFunc(v.Etcd.Compared[len(v.Etcd.Compared)-2:], func(c Comparison) bool {
		return !v.concerns(c) || c.without(id).Differs()
	})
}

// alarm is what etcd raises about the member if it finds out by itself.
func (q Quarantined) alarm() Alarm { return Alarm{Kind: AlarmCorrupt, Member: q.Member} }

// judgeData concludes from comparisons of the voters' data, and from etcd's own alarm, which member is to be quarantined, or why none is
// although their data differs. Without a comparison nothing is known, and nothing is said.
func (v *view) judgeData() {
	mode := v.Cluster.Autopilot.Diverged
	switch {
	case v.Quarantined.ID != 0 && mode != ModeOn:
		v.holdData(v.quarantineStands())
		return
	case v.Quarantined.ID != 0:
		if why := v.replacementAwaits(); why != "" {
			v.holdData(&HeldAct{Reason: v1beta2.ReasonDivergedMemberHeld, Message: "the data of " + v.Quarantined.Name +
				" differs from what a majority of the voters agrees on, and it is replaced " + why})
		}
		return
	case v.Cluster.Quarantined.Member != 0:
		return
	case mode == ModeOff && v.Cluster.Doubt == (Doubt{}):
		return
	case mode == ModeOff:
		v.holdData(v.inDoubt()) // what was found before is not right because it is not acted upon
		return
	}
	culprit, hold := v.culprit()
	if culprit.ID != 0 && hold == nil {
		hold = v.quarantineHeld(culprit)
	}
	switch {
	case hold != nil:
		v.holdData(hold)
	case culprit.ID != 0:
		v.Diverged = culprit
	default:
		v.holdData(v.inDoubt())
	}
}

// holdData adds what is held about the data, nil if nothing is.
func (v *view) holdData(hold *HeldAct) {
	if hold != nil {
		hold.Feature = FeatureDiverged
		v.Held = append(v.Held, *hold)
	}
}

// quarantineStands says what is left to do about a member whose replacement was begun, and may not go on.
func (v *view) quarantineStands() *HeldAct {
	return &HeldAct{Feature: FeatureDiverged, Reason: v1beta2.ReasonDivergedMemberHeld, Message: fmt.Sprintf("the data of %s (%016x) differs "+
		"from what a majority of the voters agrees on: it is kept away from clients and leadership; with mode On it is replaced", v.Quarantined.Name,
		v.Quarantined.ID)}
}

// replacementAwaits says what the replacement that has begun waits for, empty if it goes on.
func (v *view) replacementAwaits() string {
	others := slices.DeleteFunc(v.unhealthyVoters(), func(name string) bool { return name == v.Quarantined.Name })
	switch {
	case v.disputed():
		return "once it is known whose data is right, because that of the others differs, too, or etcd says so: " + howToCompare()
	case v.downgradeTarget() != "":
		return "once the downgrade is complete: etcd takes no new member before"
	case len(others) > 0:
		return "once all others are healthy; not healthy: " + list(others)
	}
	return ""
}

// culprit returns the voter that is proven to differ from a majority of all voters which agrees: at two compactions, or at one if etcd has
// raised its alarm about the very same. Or it returns why nobody is, if the data differs; neither if it is not known to.
func (v *view) culprit() (Member, *HeldAct) {
	accused := v.alarmed(AlarmCorrupt)
	last := len(v.Etcd.Compared) - 1
	if last < 0 || !v.concerns(v.Etcd.Compared[last]) || !v.Etcd.Compared[last].Differs() {
		if len(accused) > 0 {
			return Member{}, unclear("etcd's alarm CORRUPT names " + v.namesOf(accused) + ", and no comparison of the voters' data confirms it")
		}
		return Member{}, nil
	}
	m := v.outlier(v.Etcd.Compared[last])
	switch {
	case m.ID == 0 && !v.Doubt.Split:
		return Member{}, v.inDoubt()
	case m.ID == 0:
		return Member{}, unclear(fmt.Sprintf("the data of the %d voters differs, and there is no majority from which exactly one differs", len(v.voters)))
	case v.Doubt.Split:
		return Member{}, v.inDoubt()
	case len(accused) > 0 && (len(accused) > 1 || accused[0] != m.ID):
		return Member{}, unclear(fmt.Sprintf("the data of %s differs from the majority's, and etcd's alarm CORRUPT names %s", m.Name, v.namesOf(accused)))
	case len(accused) == 0 && (last == 0 || !v.concerns(v.Etcd.Compared[last-1]) || v.outlier(v.Etcd.Compared[last-1]) != m):
		return Member{}, &HeldAct{Reason: v1beta2.ReasonDivergedMemberHeld, Message: fmt.Sprintf(
			"the data of %s differs from the majority's at one compaction: that counts if the next compaction shows the same", m.Name)}
	}
	return m, nil
}

// unclear says that data differs and nobody can tell whose is wrong.
func unclear(what string) *HeldAct {
	return &HeldAct{Reason: v1beta2.ReasonDivergedMemberUnclear, Message: what + ": no member is replaced, none joins, and none on an emptyDir is " +
		"evicted; " + howToCompare()}
}

// howToCompare leads to where it is told what to do about data that differs.
func howToCompare() string {
	return version.Document("docs/autopilot.md#diverged-members") + " says how to compare and repair"
}

// concerns reports whether a comparison is of the present voters, all of them and no others.
func (v *view) concerns(c Comparison) bool {
	return len(c.Hashes) == len(v.voters) && !slices.ContainsFunc(v.voters, func(m Member) bool {
		return !slices.ContainsFunc(c.Hashes, func(h MemberHash) bool { return h.Member == m.ID })
	})
}

// outlier returns the present voter that differs from all others, the zero Member if there is none.
func (v *view) outlier(c Comparison) Member {
	m, _ := v.memberByID(c.outlier())
	return m
}

// outlier returns the one member that differs from all others, provided that these agree and are a majority of all; 0 if there is none.
func (c Comparison) outlier() uint64 {
	for _, own := range c.Hashes {
		others := map[int64]int{}
		for _, h := range c.Hashes {
			if h.Member != own.Member {
				others[h.Hash]++
			}
		}
		if len(others) == 1 && others[own.Hash] == 0 && len(c.Hashes) >= minComparable {
			return own.Member
		}
	}
	return 0
}

// quarantineHeld returns why a member whose data is wrong is not kept apart and replaced, nil if it is to be. Whatever else goes on in the
// cluster does not hold it up: the replacement waits for that, and to know by then whose data is wrong decides from whom others learn.
func (v *view) quarantineHeld(m Member) *HeldAct {
	what := fmt.Sprintf("the data of %s (%016x) differs from what a majority of the voters agrees on", m.Name, m.ID)
	held := func(reason, why string) *HeldAct { return &HeldAct{Reason: reason, Message: what + ": " + why} }
	switch {
	case v.Cluster.Autopilot.Diverged == ModeAdvise:
		return held(v1beta2.ReasonAutopilotAdvises, "with mode On it would be replaced, and its volume kept")
	case !v.MayDisturb: // what would prove healthy members wrong in many clusters is to do so in a few
		return held(v1beta2.ReasonWaitingForBrake, "it is replaced once fewer clusters are disturbed")
	}
	return nil
}
