package world

import "github.com/etcdpilot/etcd-operator/internal/plan"

// Allowance is what keeps Auto Pilot from acting for a time, whatever is due, besides the maintenance window.
type Allowance struct {
	// Braked is true while as many clusters are disturbed as may be, and Advised while all modes are Advise.
	Braked, Advised bool
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
		onWorld: func(w *World) { w.Advised = true },
	},
	modesReturn: {
		name:    "Auto Pilot may act again",
		ifWorld: func(w *World) bool { return w.Advised },
		onWorld: func(w *World) { w.Advised = false },
	},
}

// Signals are of everything that Auto Pilot acts upon where members run. None of them ends by itself.
var Signals = []Kind{patchTested, keysFill, fragments, dataDiffers, diskDrags, loadRises}

// AllowanceFaults are a brake, a window and modes that change in the middle of what they allow.
var AllowanceFaults = []Kind{brakeHolds, windowShuts, modesAdvise}

func (w *World) piloted() bool { return w.cfg.Autopilot != plan.Autopilot{} }

// autopilot is what Auto Pilot may do now: nothing in a cluster that is paused.
func (w *World) autopilot() plan.Autopilot {
	a := w.cfg.Autopilot
	if w.Paused {
		a = plan.Autopilot{}
	}
	if w.Advised {
		for _, mode := range []*plan.Mode{&a.NoSpace, &a.Defragment, &a.Diverged, &a.Grow, &a.Enlarge, &a.Resources, &a.Patches, &a.Relocation} {
			*mode = min(*mode, plan.ModeAdvise)
		}
	}
	if w.cfg.Autopilot.Patches != plan.ModeOff || w.Shut {
		a.Window = plan.Window{Set: true, Open: !w.Shut}
	}
	return a
}

// checkAllowed is for what Auto Pilot begins: it has to be allowed when that is decided.
func (w *World) checkAllowed(a plan.Action) {
	waitsForWindow := false
	switch act := a.(type) {
	case plan.Quarantine:
	case plan.CommitRelocation:
		if act.GivenUp != "" {
			return
		}
		waitsForWindow = true
	default:
		return
	}
	if w.Advised || w.Braked || waitsForWindow && w.Shut {
		w.violate("R: %T although Auto Pilot may not act", a)
	}
}

func (e *encoder) allowance(a *Allowance) { e.rare(markAllowance, bits(a.Braked, a.Advised)) }
