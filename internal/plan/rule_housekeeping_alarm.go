package plan

import (
	"cmp"
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// reportAlarm reports an alarm of etcd, which only the user can resolve.
func reportAlarm(v *view) Action {
	if v.Alarm != nil {
		return Blocked(*v.Alarm)
	}
	return nil
}

// alarm returns the most severe alarm and what to do about it, nil if there is none, or no quorum. The members agree on alarms
// through raft, so any member that follows a leader can report them; the member to look at is the one that the alarm names, not
// the one that reports it.
func (v *view) alarm() *failure.Problem {
	if v.Etcd.Contact != ContactQuorum {
		return nil
	}
	var alarms []Alarm
	for _, m := range v.voters {
		if a, ok := v.answer(m); ok && a.Leader != 0 {
			alarms = append(alarms, a.Alarms...)
		}
	}
	slices.SortFunc(alarms, func(a, b Alarm) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member)) })
	for _, a := range slices.Compact(alarms) { // CORRUPT comes before NOSPACE
		switch a.Kind {
		case AlarmCorrupt:
			return &failure.Problem{Reason: v1beta2.ReasonCorrupt, Message: v.corruptMessage(a.Member)}
		case AlarmNoSpace:
			return &failure.Problem{Reason: v1beta2.ReasonNoSpace, Message: v.noSpaceMessage(a.Member)}
		}
	}
	return nil
}

// corruptMessage asks to compare the members before any volume is deleted: etcd may blame the wrong member, and names none if
// it cannot tell.
func (v *view) corruptMessage(id uint64) string {
	const compare = "Before replacing anything, compare the members' data: " +
		"etcdctl endpoint hashkv --endpoints=<each member>, at one revision (--rev). "
	const disarm = "etcd refuses all requests for keys until you run: etcdctl alarm disarm"
	name, known := v.memberByID(id)
	switch {
	case id == 0:
		return "etcd has detected that the members' data differs, and cannot tell which is wrong (alarm CORRUPT). " + compare +
			"Restore a backup if no majority agrees. " + disarm
	case !known:
		return fmt.Sprintf("etcd's alarm CORRUPT names %016x, which is no longer a member. ", id) + compare + disarm
	}
	return fmt.Sprintf("etcd's alarm CORRUPT names %s (%016x). ", name, id) + compare +
		fmt.Sprintf("Only if %s alone differs from all others, delete its volume, if it has one, and its pod: it is then replaced. ",
			name) + disarm
}

func (v *view) noSpaceMessage(id uint64) string {
	const way = "etcd accepts no writes. Raise spec.etcd.quotaBackendBytes, or delete keys, compact and defragment " +
		"(etcdctl compact, etcdctl defrag); then run: etcdctl alarm disarm"
	if name, known := v.memberByID(id); known {
		return fmt.Sprintf("the database of %s (%016x) has reached its quota (alarm NOSPACE): %s", name, id, way)
	}
	return fmt.Sprintf("etcd's alarm NOSPACE names %016x, which is no longer a member: %s", id, way)
}

// memberByID returns the name of the member with that ID.
func (v *view) memberByID(id uint64) (name string, known bool) {
	i := slices.IndexFunc(v.Etcd.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return "", false
	}
	return v.Etcd.Members[i].Name, true
}
