package etcdclient

import (
	"strconv"
	"strings"
)

// Alarm is an alarm of a member.
type Alarm struct {
	// Kind is etcd's name of it, such as NOSPACE or CORRUPT.
	Kind string
	// Member is the ID of the member, 0 if etcd does not know.
	Member uint64
}

// Alarms finds the alarms in the errors of a Status reply. There they are protobuf messages as text,
// "memberID:17 alarm:CORRUPT", with one space or two between, and without a member ID that is 0. To ask for alarms instead
// would take a quorum, and another call a pass.
func Alarms(errs []string) []Alarm {
	var alarms []Alarm
	for _, text := range errs {
		alarm := Alarm{}
		for _, field := range strings.Fields(text) {
			if kind, ok := strings.CutPrefix(field, "alarm:"); ok {
				alarm.Kind = kind
			}
			if id, ok := strings.CutPrefix(field, "memberID:"); ok {
				alarm.Member, _ = strconv.ParseUint(id, 10, 64) // an invalid ID names no member
			}
		}
		if alarm.Kind != "" {
			alarms = append(alarms, alarm)
		}
	}
	return alarms
}
