package agent

import (
	"maps"
	"slices"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// What etcd's alarms are called.
const (
	alarmNoSpace = "NOSPACE"
	alarmCorrupt = "CORRUPT"
)

// tellAlarms warns of a snapshot that was taken while etcd had alarms. What is restored of it has none: they were of members
// that it does not have. What was behind them may be in it all the same.
func (r *runner) tellAlarms(alarms []v1beta2.SnapshotAlarm) {
	kinds := map[string][]string{}
	for _, a := range alarms {
		kinds[a.Name] = append(kinds[a.Name], a.MemberID)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		advice := ""
		switch kind {
		case alarmNoSpace:
			advice = ": its database had reached the quota. Give what is restored a higher spec.etcd.quotaBackendBytes"
		case alarmCorrupt:
			advice = ": etcd had found that its data differed from the other members'. The data in the snapshot may be wrong, and" +
				" nothing in it can tell: compare it with what its applications expect before they go on with it, or use another one"
		}
		r.warn("the snapshot was taken while etcd had the alarm %s for member %s%s; the alarm is cleared in what is restored",
			kind, strings.Join(kinds[kind], ", "), advice)
	}
}
