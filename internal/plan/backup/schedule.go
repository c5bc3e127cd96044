package backup

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/schedule"
)

// ParseSchedule reads spec.schedule, spec.timeZone and spec.backupPolicy.intervalSeconds. It is nil for one backup
// only.
func ParseSchedule(expression, zone string, interval time.Duration, now time.Time) (Schedule, *failure.Problem) {
	switch {
	case interval > 0:
		return Every(interval), nil
	case expression == "":
		return nil, nil
	}
	parsed, err := schedule.Parse(expression, zone, schedule.Fields{Schedule: "spec.schedule", TimeZone: "spec.timeZone"}, now)
	if err != nil {
		return nil, invalid(err.Error())
	}
	if s, ok := parsed.(cron.ConstantDelaySchedule); ok {
		return every(expression, s.Delay)
	}
	return parsed, nil
}

// every is the schedule of "@every 90m". Of a time below a second, or before now, cron makes a second.
func every(expression string, delay time.Duration) (Schedule, *failure.Problem) {
	asked, err := time.ParseDuration(strings.TrimPrefix(expression, "@every "))
	if err != nil || asked < time.Second {
		return nil, invalid(fmt.Sprintf("spec.schedule %q: the time between two backups must be a second or more", expression))
	}
	return Every(delay), nil
}

func invalid(message string) *failure.Problem {
	return &failure.Problem{Reason: v1beta2.ReasonInvalidSchedule, Message: message}
}
