package plan

import (
	"cmp"
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// reportAlarm ends the list while etcd has an alarm: nothing of that is the operator's to mend.
func reportAlarm(v *view) Action {
	if v.Alarm != nil {
		return Blocked(*v.Alarm)
	}
	return nil
}

// alarm says which is the gravest alarm and what to do, nil if there is none, or no quorum to have one. It is a fact that the members have agreed on, so any of them that follows a leader may tell
// it, and the one to look at is the one that it names, never the one that tells.
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

// corruptMessage never ask for a volume to be deleted before the members were compared: etcd may blame the wrong one, and
// where it cannot tell it names none.
func (v *view) corruptMessage(id uint64) string {
	const compare = "Before anything is replaced compare the members' data: " +
		"etcdctl endpoint hashkv --endpoints=<each member>, at one revision (--rev). "
	const disarm = "etcd answers no request for keys until somebody runs: etcdctl alarm disarm"
	name, known := v.memberByID(id)
	switch {
	case id == 0:
		return "etcd has found that the members' data differ, and cannot tell whose is wrong (alarm CORRUPT). " + compare +
			"Restore a backup if no majority agrees. " + disarm
	case !known:
		return fmt.Sprintf("etcd's alarm CORRUPT names %016x, which is no member now. ", id) + compare + disarm
	}
	return fmt.Sprintf("etcd's alarm CORRUPT names %s (%016x). ", name, id) + compare +
		fmt.Sprintf("Only if %s alone differs from all others: delete its volume, if it has one, and its pod, and it is replaced. ",
			name) + disarm
}

func (v *view) noSpaceMessage(id uint64) string {
	const way = "etcd takes no writes. Raise spec.etcd.quotaBackendBytes, or delete keys, compact and defragment " +
		"(etcdctl compact, etcdctl defrag); then run: etcdctl alarm disarm"
	if name, known := v.memberByID(id); known {
		return fmt.Sprintf("the database of %s (%016x) has reached its quota (alarm NOSPACE): %s", name, id, way)
	}
	return fmt.Sprintf("etcd's alarm NOSPACE names %016x, which is no member now: %s", id, way)
}

// memberByID is the name of the member with that ID.
func (v *view) memberByID(id uint64) (name string, known bool) {
	i := slices.IndexFunc(v.Etcd.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return "", false
	}
	return v.Etcd.Members[i].Name, true
}
