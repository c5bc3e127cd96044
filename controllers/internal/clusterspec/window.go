package clusterspec

import (
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/schedule"
)

// Window is the maintenance window of a spec at that time, zero if it has none. One that cannot be read is never open.
func Window(spec *v1beta2.MaintenanceWindow, now time.Time) plan.Window {
	if spec == nil {
		return plan.Window{}
	}
	opens, err := windowOf(spec, now)
	if err != nil {
		return plan.Window{Set: true}
	}
	return plan.WindowAt(opens, spec.Duration.Duration, now)
}

func windowOf(spec *v1beta2.MaintenanceWindow, now time.Time) (schedule.Schedule, error) {
	const field = "spec.maintenanceWindow."
	opens, err := schedule.Parse(spec.Schedule, spec.TimeZone, schedule.Fields{Schedule: field + "schedule", TimeZone: field + "timeZone"}, now)
	if err != nil {
		return nil, err
	}
	if _, every := opens.(cron.ConstantDelaySchedule); every {
		return nil, fmt.Errorf("%sschedule %q has no time of day: give the five fields of cron, or a word such as @weekly", field, spec.Schedule)
	}
	if spec.Duration.Duration < minWindow {
		return nil, errors.New(field + "duration: a window must be open for 10m at least")
	}
	return opens, nil
}

// minWindow is how long a window is open at least. Time goes by before a pass notices, and what takes longer than is left is not begun.
const minWindow = 10 * time.Minute

// validateWindow refuses a maintenance window that says nothing about when it is open. The schema knows neither time zones nor calendars.
func validateWindow(c *v1beta2.EtcdCluster) *failure.Problem {
	if c.Spec.MaintenanceWindow == nil {
		return nil
	}
	if _, err := windowOf(c.Spec.MaintenanceWindow, c.CreationTimestamp.Time); err != nil {
		return &failure.Problem{Reason: v1beta2.ReasonInvalidWindow, Message: err.Error()}
	}
	return nil
}
