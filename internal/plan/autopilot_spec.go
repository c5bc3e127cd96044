package plan

import (
	"errors"
	"fmt"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/schedule"
)

// AutopilotOf is how far Auto Pilot may go in a cluster with that spec: no feature further than the operator, spec.autopilot.mode and its own
// mode allow, and none while the cluster is paused.
func AutopilotOf(spec *v1beta2.EtcdClusterSpec, operator v1beta2.AutopilotMode, now time.Time) Autopilot {
	window, err := WindowOf(spec.MaintenanceWindow, now)
	if err != nil {
		window = Window{Set: true} // it is never open
	}
	given := v1beta2.AutopilotSpec{}
	if spec.Autopilot != nil {
		given = *spec.Autopilot
	}
	a := Autopilot{Window: window, Trusted: given.DivergedMember != nil && given.DivergedMember.Mode == v1beta2.AutopilotOff}
	if spec.Paused {
		return a
	}
	mode := func(f *v1beta2.AutopilotFeature) Mode {
		bound := min(modeOf(operator), modeOf(given.Mode))
		if f == nil {
			return bound
		}
		return min(bound, modeOf(f.Mode))
	}
	noSpace := v1beta2.NoSpaceAutopilot{}
	if given.NoSpace != nil {
		noSpace = *given.NoSpace
	}
	a.NoSpace, a.Compact = mode(&noSpace.AutopilotFeature), noSpace.Compaction != v1beta2.CompactionForbidden
	quota := v1beta2.QuotaAutopilot{}
	if given.Quota != nil {
		quota = *given.Quota
	}
	if a.Grow, a.MaxQuota = mode(&quota.AutopilotFeature), defaultMaxQuota; quota.Max != nil {
		a.MaxQuota = quota.Max.Value()
	}
	if given.Volume != nil && given.Volume.Max != nil {
		a.Enlarge, a.MaxVolume = min(a.Grow, mode(&given.Volume.AutopilotFeature)), given.Volume.Max.Value() // larger volumes are for quotas
	}
	if r := given.Resources; r != nil && (r.Min != nil || r.Max != nil) {
		a.Resources, a.MinResources, a.MaxResources = mode(&r.AutopilotFeature), boundsOf(r.Min), boundsOf(r.Max)
	}
	a.Anomaly, a.Timers = mode(given.Anomaly), min(modeOf(operator), modeOf(given.Mode), ModeAdvise)
	if given.Timers != nil {
		a.Timers = min(a.Timers, modeOf(given.Timers.Mode))
	}
	a.Defragment, a.Diverged, a.Patches = mode(given.Defragment), mode(given.DivergedMember), mode(given.Patches)
	// Somebody has to ask for this: whether there is another node, and what a copy of the data costs, only users know.
	if a.Relocation = mode(given.Relocation); given.Relocation == nil || given.Relocation.Mode == "" {
		a.Relocation = min(a.Relocation, ModeAdvise)
	}
	return a
}

// boundsOf reads bounds of what members request.
func boundsOf(given *v1beta2.ResourceBounds) (r Resources) {
	if given != nil && given.CPU != nil {
		r.CPU = given.CPU.MilliValue()
	}
	if given != nil && given.Memory != nil {
		r.Memory = given.Memory.Value()
	}
	return r
}

// modeOf reads a mode that the schema has checked.
func modeOf(given v1beta2.AutopilotMode) Mode {
	switch given {
	case v1beta2.AutopilotOn, "":
		return ModeOn
	case v1beta2.AutopilotAdvise:
		return ModeAdvise
	case v1beta2.AutopilotOff:
	}
	return ModeOff
}

// minWindow is how long a window is open at least. Time goes by before a pass notices, and what takes longer than is left is not begun.
const minWindow = 10 * time.Minute

// maxWindow is how long one is at most: a window that is always open is none, and the longer it is, the more times of its schedule have to be
// gone through.
const maxWindow = 7 * 24 * time.Hour

// WindowOf is a maintenance window at that time, zero if there is none. The error names the field that cannot be read, and what to write there.
func WindowOf(spec *v1beta2.MaintenanceWindow, now time.Time) (Window, error) {
	const field = "spec.maintenanceWindow."
	if spec == nil {
		return Window{}, nil
	}
	if strings.Contains(spec.Schedule, "@every") {
		return Window{}, fmt.Errorf("%sschedule %q has no time of day: give the five fields of cron, or a word such as @weekly", field, spec.Schedule)
	}
	if spec.Duration.Duration < minWindow {
		return Window{}, errors.New(field + "duration: a window must be open for 10m at least")
	}
	if spec.Duration.Duration > maxWindow {
		return Window{}, errors.New(field + "duration: a window may be open for 168h at most; without maintenanceWindow nothing waits for one")
	}
	opens, err := schedule.Parse(spec.Schedule, spec.TimeZone, schedule.Fields{Schedule: field + "schedule", TimeZone: field + "timeZone"}, now)
	if err != nil {
		return Window{}, err
	}
	return windowAt(opens, spec.Duration.Duration, now), nil
}

// windowAt is the window of a schedule, which stays open for that long each time.
func windowAt(opens schedule.Schedule, stays time.Duration, now time.Time) Window {
	w := Window{Set: true, Next: opens.Next(now)}
	if last := schedule.Last(opens, now.Add(-stays), now); !last.IsZero() {
		w.Open, w.Ends = true, last.Add(stays)
	}
	return w
}
