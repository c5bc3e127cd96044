package agent

import (
	"maps"
	"slices"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Names of etcd's alarms.
const (
	alarmNoSpace = "NOSPACE"
	alarmCorrupt = "CORRUPT"
)

// warnOfAlarms warns of a snapshot that was taken while etcd had alarms. A restore clears them, because they were of members that no
// longer exist. Their cause may be in the snapshot all the same.
func (r *runner) warnOfAlarms(alarms []v1beta2.SnapshotAlarm) {
	kinds := map[string][]string{}
	for _, a := range alarms {
		kinds[a.Name] = append(kinds[a.Name], a.MemberID)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		advice := ""
		switch kind {
		case alarmNoSpace:
			advice = ": its database had reached the quota. Restore it with a higher spec.etcd.quotaBackendBytes"
		case alarmCorrupt:
			advice = ": etcd had found that its data differed from the other members'. The data in the snapshot may be wrong, which" +
				" cannot be seen from it: compare it with what its applications expect before they use it, or use another snapshot"
		}
		r.warn("the snapshot was taken while etcd had the alarm %s for member %s%s; a restore clears the alarm",
			kind, strings.Join(kinds[kind], ", "), advice)
	}
}
