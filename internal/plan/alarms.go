package plan

import (
	"cmp"
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// alarms returns the alarms that most of the voters who answer and follow a leader know of, CORRUPT first; none without a quorum. The
// members agree on alarms through raft, so each of them tells those of all, and one that knows of another has made it up, or is behind.
func (v *view) alarms() []Alarm {
	if v.Etcd.Contact != ContactQuorum {
		return nil
	}
	witnesses := 0
	var told []Alarm
	for _, m := range v.voters {
		if a, ok := v.answer(m); ok && a.Leader != 0 {
			witnesses++
			told = append(told, slices.Compact(slices.SortedFunc(slices.Values(a.Alarms), compareAlarms))...)
		}
	}
	slices.SortFunc(told, compareAlarms)
	var known []Alarm
	for len(told) > 0 {
		n := 1
		for n < len(told) && told[n] == told[0] {
			n++
		}
		if 2*n > witnesses {
			known = append(known, told[0])
		}
		told = told[n:]
	}
	return known
}

// compareAlarms sorts them by kind, CORRUPT before NOSPACE, and by member.
func compareAlarms(a, b Alarm) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member))
}

// alarm returns the most severe kind of alarm and what to do about it, nil if there is none. The members to look at are those that
// the alarms name, not those that report them.
func (v *view) alarm() *failure.Problem {
	if ids := v.alarmed(AlarmCorrupt); len(ids) > 0 {
		return &failure.Problem{Reason: v1beta2.ReasonCorrupt, Message: v.corruptMessage(ids)}
	}
	if ids := v.alarmed(AlarmNoSpace); len(ids) > 0 {
		return &failure.Problem{Reason: v1beta2.ReasonNoSpace, Message: v.noSpaceMessage(ids)}
	}
	return nil
}

// alarmed are the IDs that alarms of that kind name.
func (v *view) alarmed(kind AlarmKind) (ids []uint64) {
	for _, a := range v.Alarms {
		if a.Kind == kind {
			ids = append(ids, a.Member)
		}
	}
	return ids
}

// minComparable is the number of voters from which on a member can be told to differ from a majority that agrees.
const minComparable = 3

// corruptMessage asks to compare the members before any volume is deleted: etcd may blame the wrong member, and names none if
// it cannot tell. It says what to replace only where a majority of healthy members can prove a single one wrong: of two either one differs alone, and
// one that is down is needed more than ever. And it says what goes on once the alarm is disarmed.
func (v *view) corruptMessage(ids []uint64) string {
	compare := "Before replacing anything by hand, compare the members' data: " +
		"etcdctl endpoint hashkv --endpoints=<each member>, at one revision (--rev). "
	if v.Cluster.Autopilot.Diverged != ModeOff {
		compare = "Auto Pilot replaces a member that a majority proves wrong, and disarms the alarm, unless status.autopilot.held says why not. " + compare
	}
	const restore = "Restore a backup if no majority agrees. "
	const disarm = "Until then members on emptyDirs are not evicted. etcd refuses all writes, and what it reads may be wrong, until you run: etcdctl alarm disarm. What waits for that goes on at once " +
		"then: members that are lost or surplus, and a learner that has tried an etcd release that was rolled back, are removed with their data. If that may " +
		"be what is right, set spec.paused to true first, and copy it"
	if len(ids) == 1 && ids[0] == 0 {
		return "etcd has detected that the members' data differs, and cannot tell which is wrong (alarm CORRUPT). " + compare +
			restore + disarm
	}
	text := "etcd's alarm CORRUPT names " + v.namesOf(ids) + ". " + compare
	if m, known := v.memberByID(ids[0]); known && len(ids) == 1 && v.healthyBut(m) >= minComparable-1 {
		return text + fmt.Sprintf("Only if %s alone differs from two or more others that agree, delete its volume, if it has one, and its pod: "+
			"it is then replaced. ", m.Name) + disarm
	}
	return text + restore + disarm
}

// healthyBut is how many voters other than that member are healthy.
func (v *view) healthyBut(m Member) (n int) {
	for _, other := range v.voters {
		if other.ID != m.ID && v.healthy(other) {
			n++
		}
	}
	return n
}

// noSpaceMessage says which members have no room, and what makes some. It has no number that changes while nobody makes room.
func (v *view) noSpaceMessage(ids []uint64) string {
	text := "etcd refuses every write but deletions (alarm NOSPACE). At its quota: "
	roomy := true
	for i, id := range ids {
		if i > 0 {
			text += ", "
		}
		m, known := v.memberByID(id)
		if !known {
			text += v.namesOf([]uint64{id})
			continue
		}
		a, _ := v.answer(m)
		quota := v.Cluster.quota(a)
		text += m.Name + " (" + a.space(quota) + ")"
		roomy = roomy && a.hasRoom(quota)
	}
	if i := slices.IndexFunc(v.Held, func(h HeldAct) bool { return h.Feature == FeatureNoSpace }); i >= 0 {
		return text + ". Auto Pilot: " + v.Held[i].Message
	}
	if v.Cluster.Autopilot.NoSpace == ModeOn {
		return text + ". Auto Pilot makes room"
	}
	if roomy {
		return text + ". There is room again: run etcdctl alarm disarm"
	}
	return text + ". Raise spec.etcd.quotaBackendBytes, or delete keys, compact and defragment each of these members " +
		"(etcdctl compact, etcdctl defrag); then run: etcdctl alarm disarm"
}

// space says how large a member's database is, in MiB, and how much of the file is free.
func (a Answer) space(quota int64) string {
	if a.DBSize == 0 {
		return "it does not answer"
	}
	text := failure.Mebibytes(a.DBSize)
	if quota > 0 {
		text += " of " + failure.Mebibytes(quota)
	}
	return text + fmt.Sprintf(", %d%% of it free", (a.DBSize-a.DBSizeInUse)*tenth/a.DBSize*tenth)
}

// hasRoom reports whether the member would take writes again if the alarm was disarmed: at least a tenth of its quota is left.
func (a Answer) hasRoom(quota int64) bool {
	return quota > 0 && a.DBSize > 0 && !a.crowds(quota)
}

// namesOf lists members by name and ID.
func (v *view) namesOf(ids []uint64) string {
	var names []string
	for _, id := range ids {
		m, known := v.memberByID(id)
		switch {
		case known:
			names = append(names, fmt.Sprintf("%s (%016x)", m.Name, id))
		case id == 0:
			names = append(names, "no member")
		default:
			names = append(names, fmt.Sprintf("%016x, which is no longer a member", id))
		}
	}
	return list(names)
}

// memberByID returns the member with that ID.
func (v *view) memberByID(id uint64) (m Member, known bool) {
	i := slices.IndexFunc(v.Etcd.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return Member{}, false
	}
	return v.Etcd.Members[i], true
}
