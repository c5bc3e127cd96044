package backup

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// ParseSchedule reads spec.schedule, spec.timeZone and spec.backupPolicy.intervalSeconds. It is nil for one backup
// only.
func ParseSchedule(expression, zone string, interval time.Duration, now time.Time) (Schedule, *failure.Problem) {
	switch {
	case interval > 0:
		return Every(interval), nil
	case expression == "":
		return nil, nil
	case strings.Contains(expression, "TZ="):
		return nil, invalid("spec.schedule %q: name the time zone in spec.timeZone, not here", expression)
	}
	location, err := time.LoadLocation(zone) // UTC if empty
	if err != nil || zone == "Local" {
		return nil, invalid("spec.timeZone: %q is no time zone: give one of the IANA database, such as Europe/Berlin", zone)
	}
	parsed, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, invalid("spec.schedule %q: %v: give minute, hour, day of month, month and day of week, such as "+
			`"30 2 * * *", or a word such as @daily`, expression, err)
	}
	switch s := parsed.(type) {
	case cron.ConstantDelaySchedule:
		return every(expression, s.Delay)
	case *cron.SpecSchedule:
		s.Location = location
	}
	if parsed.Next(now).IsZero() {
		return nil, invalid("spec.schedule %q: there is no such day", expression)
	}
	return parsed, nil
}

// every is the schedule of "@every 90m". Of a time below a second, or before now, cron makes a second.
func every(expression string, delay time.Duration) (Schedule, *failure.Problem) {
	asked, err := time.ParseDuration(strings.TrimPrefix(expression, "@every "))
	if err != nil || asked < time.Second {
		return nil, invalid("spec.schedule %q: the time between two backups must be a second or more", expression)
	}
	return Every(delay), nil
}

func invalid(format string, args ...any) *failure.Problem {
	return &failure.Problem{Reason: v1beta2.ReasonInvalidSchedule, Message: fmt.Sprintf(format, args...)}
}
