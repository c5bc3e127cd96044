package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// UnknownAlarm is an alarm that names none of the members.
type UnknownAlarm struct {
	Kind string `json:"kind"`
	// Member is the ID that it names, in hexadecimal digits; 0 if etcd cannot tell whose it is.
	Member string `json:"member"`
}

// Alarms are those that most of those who answered know of, CORRUPT first: one alone may have made it up. They may name no member, or one
// that is no longer there.
func Alarms(answers map[string]Answer) []Alarm {
	known, answered := map[Alarm]int{}, 0
	for _, a := range answers {
		if a.Problem == "" && a.Unasked == "" {
			answered++
		}
		told := map[Alarm]bool{} // one that says it twice is one all the same
		for _, alarm := range a.Alarms {
			if !told[alarm] {
				told[alarm] = true
				known[alarm]++
			}
		}
	}
	maps.DeleteFunc(known, func(_ Alarm, n int) bool { return 2*n <= answered })
	return slices.SortedFunc(maps.Keys(known), func(a, b Alarm) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member)) })
}

// Named is the member of status that an alarm names, if it does.
func (a Alarm) Named(all []v1beta2.MemberStatus) (name string, known bool) {
	i := slices.IndexFunc(all, func(m v1beta2.MemberStatus) bool { return uint64(member.ParseID(m.ID)) == a.Member })
	if a.Member == 0 || i < 0 {
		return "", false
	}
	return all[i].Name, true
}

// alarms puts each alarm with the member that it names, and the others with the cluster.
func (c *Cluster) alarms(members []v1beta2.MemberStatus, all []Alarm) {
	for _, alarm := range all {
		name, known := alarm.Named(members)
		if !known {
			c.Alarms = append(c.Alarms, UnknownAlarm{alarm.Kind, fmt.Sprintf("%x", alarm.Member)})
			continue
		}
		i := slices.IndexFunc(c.Members, func(m Member) bool { return m.Name == name })
		c.Members[i].Alarms = append(c.Members[i].Alarms, alarm.Kind)
	}
}
