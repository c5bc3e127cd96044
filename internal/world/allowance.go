package world

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Allowance is what keeps Auto Pilot from acting for a time, whatever is due, besides the maintenance window.
type Allowance struct {
	// Braked is true while as many clusters are disturbed as may be, Advised while all modes are Advise, and Off while all are Off. Trusted is true
	// while that feature is Off by itself which judges the members' data: whose is right is up to the user.
	Braked, Advised, Off, Trusted bool
}

// allowing is what Auto Pilot may do, which changes at any time.
var allowing = map[Kind]transition{
	brakeHolds: {
		name:    "as many other clusters are disturbed as may be",
		ifWorld: func(w *World) bool { return w.piloted() && !w.Braked },
		onWorld: func(w *World) { w.Braked = true },
	},
	brakeReleased: {
		name:    "fewer clusters are disturbed",
		ifWorld: func(w *World) bool { return w.Braked },
		onWorld: func(w *World) { w.Braked = false },
	},
	modesAdvise: {
		name:    "Auto Pilot is only to advise",
		ifWorld: func(w *World) bool { return w.piloted() && !w.Advised },
		onWorld: func(w *World) { w.Advised, w.Off = true, false },
	},
	modesOff: {
		name:    "Auto Pilot is switched off",
		ifWorld: func(w *World) bool { return w.piloted() && !w.Off },
		onWorld: func(w *World) { w.Advised, w.Off = false, true },
	},
	modesReturn: {
		name:    "Auto Pilot may act again",
		ifWorld: func(w *World) bool { return w.Advised || w.Off },
		onWorld: func(w *World) { w.Advised, w.Off = false, false },
	},
	trustGiven: {
		name:    "the user says that he judges the data",
		ifWorld: func(w *World) bool { return w.cfg.Autopilot.Diverged != plan.ModeOff && !w.Trusted },
		onWorld: func(w *World) { w.Trusted = true },
	},
	trustWithdrawn: {
		name:    "the user does not judge the data any more",
		ifWorld: func(w *World) bool { return w.Trusted },
		onWorld: func(w *World) { w.Trusted = false },
	},
	trustEnds: {
		name:    "the user has the operator replace whom he has not let it replace",
		ifWorld: func(w *World) bool { return w.Trusted && w.Status.Quarantined.Member != 0 },
		onWorld: func(w *World) { w.Trusted = false },
	},
}

// Signals are what Auto Pilot acts upon where members run, but for etcd's alarms. None of them ends by itself; SignalsEnd has those end that may do so
// in the middle of what is done about them.
var (
	Signals    = []Kind{patchTested, keysFill, fragments, dataDiffers, diskDrags, loadRises}
	SignalsEnd = []Kind{dataAgrees, diskRecovers, loadFalls}
)

// AllowanceFaults are a brake, a window and modes that change in the middle of what they allow, and SwitchFaults that it is switched off.
var (
	AllowanceFaults = []Kind{brakeHolds, windowShuts, modesAdvise}
	SwitchFaults    = []Kind{modesOff}
	// TrustFaults are a user who judges the members' data, and one who does not any more. WindowFaults are windows that are about to close, and closed.
	TrustFaults  = []Kind{trustGiven, trustWithdrawn}
	WindowFaults = []Kind{windowNarrows, windowShuts}
)

func (w *World) piloted() bool { return w.cfg.Autopilot != plan.Autopilot{} }

// autopilot is what Auto Pilot may do now: nothing in a cluster that is paused.
func (w *World) autopilot() plan.Autopilot {
	a := w.cfg.Autopilot
	if w.Paused {
		a = plan.Autopilot{}
	}
	for _, mode := range []*plan.Mode{&a.NoSpace, &a.Defragment, &a.Diverged, &a.Grow, &a.Enlarge, &a.Resources, &a.Patches, &a.Relocation} {
		*mode = min(*mode, w.furthest())
	}
	if a.Trusted = w.Trusted; w.Trusted {
		a.Diverged = plan.ModeOff
	}
	a.Window = w.window()
	return a
}

// window is the maintenance window, which leaves time for all that is begun in it, or for nothing that takes any.
func (w *World) window() plan.Window {
	switch {
	case w.Shut:
		return plan.Window{Set: true}
	case w.Narrow:
		return plan.Window{Set: true, Open: true, Ends: base.Add(time.Millisecond)}
	case w.cfg.Autopilot.Patches != plan.ModeOff:
		return plan.Window{Set: true, Open: true, Ends: base.Add(time.Hour)}
	}
	return plan.Window{}
}

// furthest is how far any feature goes.
func (a *Allowance) furthest() plan.Mode {
	switch {
	case a.Off:
		return plan.ModeOff
	case a.Advised:
		return plan.ModeAdvise
	}
	return plan.ModeOn
}

// beginning is what Auto Pilot begins by an act: of which feature it is, empty if it begins nothing, and what that takes besides the mode On: a turn, and a
// window that is not closed.
type beginning struct {
	feature      string
	turn, window bool
}

// checkAllowed is for what Auto Pilot begins: it has to be allowed when that is decided. What it has begun goes on, and is rolled back, whatever is allowed.
func (w *World) checkAllowed(a plan.Action) {
	b := w.beginning(a)
	switch {
	case b.feature == "":
	case w.autopilot().Mode(b.feature) != plan.ModeOn:
		w.violate("R: %T although the mode of %s is not On", a, b.feature)
	case b.turn && w.Braked:
		w.violate("R: %T of %s although others come first", a, b.feature)
	case b.window && w.Shut:
		w.violate("R: %T of %s although the window is closed", a, b.feature)
	case b.feature == plan.FeatureDefragment && w.Narrow:
		w.violate("R: %T of %s although the window closes before the end", a, b.feature)
	}
}

// beginning is what an act begins. Where etcd takes no writes, nothing that makes room waits.
func (w *World) beginning(a plan.Action) (b beginning) {
	switch act := a.(type) {
	case plan.Quarantine:
		b.feature, b.turn = plan.FeatureDiverged, true
	case plan.CommitRelocation:
		if act.GivenUp == "" {
			b = beginning{plan.FeatureRelocation, true, true}
		}
	case plan.Compact:
		b.feature = plan.FeatureNoSpace
	case plan.Disarm:
		if b.feature = plan.FeatureDiverged; act.Kind == plan.AlarmNoSpace {
			b.feature = plan.FeatureNoSpace
		}
	case plan.Defragment:
		if b.feature = plan.FeatureNoSpace; !w.Full {
			b = beginning{plan.FeatureDefragment, true, true}
		}
	case plan.CommitTuning:
		b = w.tunes(act)
	default:
	}
	return b
}

// tunes is what options begin that take the place of the spec's. More CPU waits for no window: it disturbs nobody.
func (w *World) tunes(act plan.CommitTuning) beginning {
	switch {
	case act.Refused.Version != "":
		return beginning{feature: plan.FeaturePatches}
	case act.Because != "":
		return beginning{}
	case act.FromVersion != "":
		return beginning{plan.FeaturePatches, true, true}
	case act.FromResources != (plan.Resources{}):
		return beginning{plan.FeatureResources, true, act.FromResources.Exceeds(act.Resized.Now)}
	case act.FromVolume > 0:
		return beginning{plan.FeatureVolume, !w.Full, !w.Full}
	}
	return beginning{plan.FeatureQuota, !w.Full, !w.Full}
}

func (e *encoder) allowance(a *Allowance) {
	e.rare(markAllowance, bits(a.Braked, a.Advised, a.Off, a.Trusted))
}
