package plan

import (
	"cmp"
	"time"
)

// Mode is how far a feature of Auto Pilot goes, by the operator's own switch, spec.autopilot.mode and the feature's mode: the least of
// them. An act follows from it, never from the spec.
type Mode int

// The modes, the least first.
const (
	ModeOff Mode = iota
	ModeAdvise
	ModeOn
)

// String is the mode as in the API.
func (m Mode) String() string { return []string{"Off", "Advise", "On"}[m] }

// Autopilot is what the operator may do by itself beyond keeping the cluster at its spec.
type Autopilot struct {
	// NoSpace makes room when a database has reached its quota; Compact is true if history may be given up for that.
	NoSpace Mode
	Compact bool
	// Defragment gives free pages back to the disk. Diverged replaces members whose data differs from the majority's.
	Defragment, Diverged Mode
	// Grow raises the quota before it is reached, up to MaxQuota bytes.
	Grow     Mode
	MaxQuota int64 `json:",omitempty"`
	// Enlarge gives the members volumes of up to MaxVolume bytes where a higher quota needs them; ModeOff if there is no maximum.
	Enlarge   Mode  `json:",omitempty"`
	MaxVolume int64 `json:",omitempty"`
	// Resources has the members request more CPU and memory, or less CPU, within MinResources and MaxResources; 0 there is no bound of its own: what the
	// spec says is one.
	Resources                  Mode      `json:",omitempty"`
	MinResources, MaxResources Resources `json:",omitzero"`
	// Patches follows the patch releases of the minor release in the spec.
	Patches Mode `json:",omitempty"`
	// Relocation moves a member off a node whose disk is slow.
	Relocation Mode `json:",omitempty"`
	// Anomaly tells what is unusual of members, and Timers that etcd's times are too short; never ModeOn. No decision depends on them.
	Anomaly, Timers Mode `json:",omitempty"`
	// Trusted is true if the user has switched off that feature of Diverged itself: whose data is right is up to them.
	Trusted bool `json:",omitempty"`
	// Window is the maintenance window.
	Window Window
	// Pace is by which factor trials of releases are shorter in tests, 0 for none.
	Pace int `json:",omitempty"`
}

// Window is the maintenance window, as it is now.
type Window struct {
	// Set is true if the spec has one. Open is whether it is open, and Ends when it closes; both are zero without one.
	Set, Open bool
	Ends      time.Time
	// Next is when it opens next, zero without one.
	Next time.Time
}

// The features of Auto Pilot, by their fields of spec.autopilot.
const (
	FeatureNoSpace    = "noSpace"
	FeatureDefragment = "defragment"
	FeatureDiverged   = "divergedMember"
	FeatureQuota      = "quota"
	FeatureVolume     = "volume"
	FeatureResources  = "resources"
	FeaturePatches    = "patches"
	FeatureRelocation = "relocation"
	FeatureAnomaly    = "anomaly"
	FeatureTimers     = "timers"
)

// featureOf is which feature a rule belongs to, by its name in the lists. These rules return an action or nothing, never Wait or Blocked, so
// that they keep no other one from its turn.
var featureOf = map[string]string{
	"makeRoom": FeatureNoSpace, "quarantine": FeatureDiverged, "defragment": FeatureDefragment, "growQuota": FeatureQuota,
	"resizeMembers": FeatureResources, "giveUpResize": FeatureResources,
	"followPatch": FeaturePatches, "retreat": FeaturePatches,
	"relocate": FeatureRelocation, "giveUpRelocation": FeatureRelocation,
}

// feature is the one whose rule has decided, whether or not a guard has replaced its action; empty if another rule has, or none. What a decision
// begins belongs to the feature that begins it: the rule that raises quotas also enlarges the volumes that a higher one needs.
func (d decision) feature() string {
	if d.rule == nil {
		return ""
	}
	of := featureOf[nameOf(*d.rule)]
	if act, tunes := d.action.(CommitTuning); tunes && of != "" {
		return cmp.Or(act.Begins(), of)
	}
	return of
}

// Mode is that of a feature, ModeOff of one that does not exist.
func (a Autopilot) Mode(feature string) Mode {
	switch feature {
	case FeatureNoSpace:
		return a.NoSpace
	case FeatureDefragment:
		return a.Defragment
	case FeatureDiverged:
		return a.Diverged
	case FeatureQuota:
		return a.Grow
	case FeatureVolume:
		return a.Enlarge
	case FeatureResources:
		return a.Resources
	case FeaturePatches:
		return a.Patches
	case FeatureRelocation:
		return a.Relocation
	case FeatureAnomaly:
		return a.Anomaly
	case FeatureTimers:
		return a.Timers
	}
	return ModeOff
}

// Disturbing reports whether something is in progress, or Auto Pilot has begun with what it has to end: members are to be updated, as after
// their quota was raised, one to be replaced, or one tries a release.
func (known Assessment) Disturbing() bool {
	for _, change := range known.Changes {
		if change != ChangeNone {
			return true
		}
	}
	return known.InProgress != nil || known.OnTrial.Version != ""
}

// Features are all of them.
func Features() []string {
	return []string{
		FeatureNoSpace, FeatureDefragment, FeatureDiverged, FeatureQuota, FeatureVolume, FeatureResources, FeaturePatches, FeatureRelocation, FeatureAnomaly,
		FeatureTimers,
	}
}

// HeldAct is an act of Auto Pilot that is due and not done.
type HeldAct struct {
	// Feature is the field of spec.autopilot that it belongs to, such as "noSpace".
	Feature string
	// Reason and Message are as in a condition: what is due, and what has to be so before it is done. The message has no number that
	// changes while nothing is done.
	Reason, Message string
}
