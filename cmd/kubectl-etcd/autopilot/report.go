// Package autopilot says how far Auto Pilot goes in a cluster, what it has begun, what it holds back and why, and what it has done lately. It asks nobody.
package autopilot

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Report is about one cluster.
type Report struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Features are all that there are.
	Features []Feature `json:"features"`
	// Window is the maintenance window, nil if there is none.
	Window *Window `json:"window,omitempty"`
	// UnderWay is what was begun and not all members have yet, as in status.
	UnderWay []v1beta2.BegunAct `json:"underWay,omitempty"`
	// Conditions are those that tell what it does just now of what is not under way in that sense, a defragmentation or making room, and what it has
	// found: that etcd takes no writes, or an anomaly.
	Conditions []Condition `json:"conditions,omitempty"`
	// Held is what is due and not done, as in status.
	Held []v1beta2.HeldAct `json:"held"`
	// Recovery is what could be done about a lost quorum, as in status; nil while there is nothing to confirm.
	Recovery *v1beta2.RecoveryPlan `json:"recovery,omitempty"`
	// Events are those of Auto Pilot, and those that say that etcd takes no writes and takes them again, that Kubernetes still has, the newest first;
	// absent if they could not be read.
	Events []Event `json:"events,omitzero"`
	// Problems say what could not be read.
	Problems []string `json:"problems,omitempty"`

	now time.Time
}

// Feature is one thing that Auto Pilot does, by its field of spec.autopilot.
type Feature struct {
	Name string `json:"name"`
	// Mode is the one in force, and By what keeps it from On; empty if nothing does.
	Mode string `json:"mode"`
	By   string `json:"by,omitempty"`
}

// Window is a maintenance window as it is now.
type Window struct {
	v1beta2.MaintenanceWindow `json:",inline"`

	Open bool `json:"open"`
	// Ends is when it closes, if it is open, and Next when it opens next.
	Ends *time.Time `json:"ends,omitempty"`
	Next *time.Time `json:"next,omitempty"`
	// Problem says why it cannot be read: then the former one is in force.
	Problem string `json:"problem,omitempty"`
}

// Condition is a condition of the cluster, as in status.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Event is an event about the cluster, in a report one of Auto Pilot: something that it has done, or begun or ended to hold back.
type Event struct {
	Time    time.Time `json:"time"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
}

// Of is the report about a cluster, with all of its events, nil if they could not be read.
func Of(c *v1beta2.EtcdCluster, events []Event, problems []string, now time.Time) *Report {
	r := &Report{Namespace: c.Namespace, Name: c.Name, Held: []v1beta2.HeldAct{}, Problems: problems, now: now}
	operator := v1beta2.AutopilotMode("")
	if c.Status.Autopilot != nil {
		operator = c.Status.Autopilot.OperatorMode
		r.UnderWay, r.Held = c.Status.Autopilot.UnderWay, append(r.Held, c.Status.Autopilot.Held...)
	}
	r.Conditions = tellingOf(c)
	if c.Status.Recovery != nil {
		r.Recovery = c.Status.Recovery.Plan
	}
	inForce := plan.AutopilotOf(&c.Spec, operator, now)
	if version.Newest(c.Spec.Version) == "" {
		inForce.Patches = plan.ModeOff
	}
	for _, name := range plan.Features() {
		r.Features = append(r.Features, Feature{name, inForce.Mode(name).String(), boundBy(c, operator, name, inForce.Mode(name))})
	}
	r.Window = windowOf(c.Spec.MaintenanceWindow, now)
	if events != nil {
		r.Events = eventsOf(events)
	}
	return r
}

// boundBy is the first of what gives a feature its mode, empty if that is On.
func boundBy(c *v1beta2.EtcdCluster, operator v1beta2.AutopilotMode, feature string, mode plan.Mode) string {
	alone := withoutModes(c.Spec)
	all := alone.DeepCopy()
	if c.Spec.Autopilot != nil {
		all.Autopilot.Mode = c.Spec.Autopilot.Mode
	}
	switch {
	case mode == plan.ModeOn:
		return ""
	case c.Spec.Paused:
		return "spec.paused"
	case feature == plan.FeatureVolume && (alone.Autopilot.Volume == nil || alone.Autopilot.Volume.Max == nil):
		return "spec.autopilot.volume.max, which is not set"
	case feature == plan.FeatureResources && unbounded(alone.Autopilot.Resources):
		return "spec.autopilot.resources, which has no min or max"
	case feature == plan.FeaturePatches && version.Newest(c.Spec.Version) == "":
		return "spec.version, which names no minor release"
	case feature == plan.FeatureTimers && mode == plan.ModeAdvise:
		return "design: the operator never sets them"
	case plan.AutopilotOf(alone, operator, time.Time{}).Mode(feature) == mode:
		return "the operator's variable AUTOPILOT"
	case plan.AutopilotOf(all, operator, time.Time{}).Mode(feature) == mode:
		return "spec.autopilot.mode"
	}
	return own(c.Spec.Autopilot, feature, mode)
}

// withoutModes is the spec with what features cannot do without, and no mode of a feature below On.
func withoutModes(spec v1beta2.EtcdClusterSpec) *v1beta2.EtcdClusterSpec {
	alone, given := spec.DeepCopy(), spec.Autopilot
	alone.Autopilot = &v1beta2.AutopilotSpec{
		Patches: &v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotOn}, Relocation: &v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotOn},
	}
	if given != nil && given.Volume != nil {
		alone.Autopilot.Volume = &v1beta2.VolumeAutopilot{Max: given.Volume.Max}
	}
	if given != nil && given.Resources != nil {
		alone.Autopilot.Resources = &v1beta2.ResourcesAutopilot{Min: given.Resources.Min, Max: given.Resources.Max}
	}
	return alone
}

// unbounded reports whether no bound has been given within which CPU and memory may be changed.
func unbounded(r *v1beta2.ResourcesAutopilot) bool { return r == nil || r.Min == nil && r.Max == nil }

// own is the field that bounds a feature where nothing else does.
func own(given *v1beta2.AutopilotSpec, feature string, mode plan.Mode) string {
	switch {
	case feature == plan.FeatureRelocation && (given == nil || given.Relocation == nil || given.Relocation.Mode == ""): // which does nothing then
		return "spec.autopilot." + feature + ".mode, which is not set"
	case feature == plan.FeatureVolume && given != nil && given.Quota != nil && string(given.Quota.Mode) == mode.String():
		return "spec.autopilot.quota.mode"
	}
	return "spec.autopilot." + feature + ".mode"
}

func windowOf(spec *v1beta2.MaintenanceWindow, now time.Time) *Window {
	if spec == nil {
		return nil
	}
	w := &Window{MaintenanceWindow: *spec}
	is, err := plan.WindowOf(spec, now)
	if err != nil {
		w.Problem = err.Error()
		return w
	}
	w.Next = &is.Next
	if w.Open = is.Open; w.Open {
		w.Ends = &is.Ends
	}
	return w
}

// section is the title of docs/reasons.md under which the reasons of Auto Pilot are.
const section = "Auto Pilot"

// tellingOf are the conditions by which the operator says what Auto Pilot does, that etcd takes no writes, which makes it act or hold something, and that
// a member deviates, or did when that was last known.
func tellingOf(c *v1beta2.EtcdCluster) (all []Condition) {
	for _, is := range c.Status.Conditions {
		acts := is.Type == v1beta2.ConditionProgressing && is.Status == metav1.ConditionTrue && reasons.Of(is.Reason).Section == section
		full := is.Type == v1beta2.ConditionAvailable && is.Status == metav1.ConditionFalse && is.Reason == v1beta2.ReasonNoSpace
		deviates := is.Type == v1beta2.ConditionAnomaly && (is.Reason == v1beta2.ReasonDeviating || is.Reason == v1beta2.ReasonDeviatedBefore)
		if acts || full || deviates {
			all = append(all, Condition{is.Type, string(is.Status), is.Reason, is.Message})
		}
	}
	return all
}

// eventsOf are those with a reason of Auto Pilot, and those that say when etcd took no writes, and when it took them again: what was done in between
// cannot be understood without them.
func eventsOf(all []Event) []Event {
	found := slices.DeleteFunc(slices.Clone(all), func(e Event) bool {
		return e.Reason != v1beta2.ReasonNoSpace && e.Reason != v1beta2.ReasonAlarmDisarmed && !strings.Contains(reasons.Of(e.Reason).Section, section)
	})
	slices.SortStableFunc(found, func(a, b Event) int { return b.Time.Compare(a.Time) })
	return found
}
