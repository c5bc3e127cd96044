package etcd

import (
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// alarmsOf finds the alarms in the errors of a Status reply. There they are protobuf messages as text,
// "memberID:17 alarm:CORRUPT", with one space or two between, and without a member ID that is 0. To ask for alarms instead
// would take a quorum, and another call a pass.
func alarmsOf(errs []string) []plan.Alarm {
	var alarms []plan.Alarm
	for _, text := range errs {
		alarm := plan.Alarm{}
		for _, field := range strings.Fields(text) {
			if kind, ok := strings.CutPrefix(field, "alarm:"); ok {
				alarm.Kind = plan.AlarmKind(kind)
			}
			if id, ok := strings.CutPrefix(field, "memberID:"); ok {
				alarm.Member, _ = strconv.ParseUint(id, 10, 64) // an ID that is none names nobody
			}
		}
		if alarm.Kind != "" {
			alarms = append(alarms, alarm)
		}
	}
	return alarms
}
