package world

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Patches is what there is to follow of a minor release, and what that waits for.
type Patches struct {
	// Newest is the newest release that the operator is tested with, empty while that is the one of the spec.
	Newest string
	// Unsaved is true while no backup of the last day is verified, and Shut while the maintenance window is closed.
	Unsaved, Shut bool
}

// patching is what becomes of that.
var patching = map[Kind]transition{
	patchTested: {
		name:    "the operator is tested with the next patch release",
		ifWorld: func(w *World) bool { return w.Follows && w.nextTested() != "" },
		onWorld: func(w *World) { w.Newest = w.nextTested() },
	},
	backupAges: {
		name:    "the last backup is of the day before",
		ifWorld: func(w *World) bool { return w.Follows && !w.Unsaved },
		onWorld: func(w *World) { w.Unsaved = true },
	},
	backupVerified: {
		name:    "a backup is verified",
		ifWorld: func(w *World) bool { return w.Unsaved },
		onWorld: func(w *World) { w.Unsaved = false },
	},
	windowShuts: {
		name:    "the maintenance window closes",
		ifWorld: func(w *World) bool { return w.Follows && !w.Shut },
		onWorld: func(w *World) { w.Shut = true },
	},
	windowOpens: {
		name:    "the maintenance window opens",
		ifWorld: func(w *World) bool { return w.Shut },
		onWorld: func(w *World) { w.Shut = false },
	},
}

// PatchFaults are new patch releases, and what they wait for.
var PatchFaults = []Kind{patchTested, backupAges, windowShuts}

// nextTested is the release after the newest one, empty if there is none.
func (w *World) nextTested() string {
	if i := slices.Index(w.cfg.Tested, w.Newest) + 1; i < len(w.cfg.Tested) {
		return w.cfg.Tested[i]
	}
	return ""
}

// version is the release that members are to run.
func (k *Kube) version() string {
	if chosen := k.Status.Tuned.Patch.Version; k.Follows && minorOf(chosen) == minorOf(k.Version) {
		return chosen
	}
	return k.Version
}

// newest is the newest release of the minor release that the user asks for, empty if he asks for a whole version.
func (w *World) newest() string {
	switch {
	case !w.Follows:
		return ""
	case minorOf(w.Newest) == minorOf(w.Version):
		return w.Newest
	}
	return w.Version
}

// behind reports whether there is a release to follow that was not refused.
func (w *World) behind() bool {
	newest := w.newest()
	return newest != "" && newest != w.version() && newest != w.Status.Tuned.Patch.Refused
}

// upToDate reports whether all is as it is to be in the end that is done step by step: no switch of transports, no release to follow, and nobody
// who wakes up.
func (w *World) upToDate() bool {
	return w.switched() && !w.behind() && w.Status.Hibernation == plan.Awake
}

// chosen reports whether a release was chosen a moment ago.
func (s *Status) chosen() bool { return s.Tuned.Patch.Since.Equal(base) }

// lookAtPatches adds what is known of releases and backups.
func (w *World) lookAtPatches(o *plan.Observed) {
	if w.cfg.Autopilot.Patches == plan.ModeOff {
		return
	}
	if o.Cluster.NewestPatch = w.newest(); !w.Unsaved && plan.PatchDue(*o) {
		o.Cluster.Backup = plan.RecoveryBackup{EtcdBackup: "backup", Snapshot: "snapshot", Taken: base.Add(-time.Hour)}
	}
	o.Cluster.Autopilot.Window = plan.Window{Set: true, Open: !w.Shut}
}

// checkPatch is for releases that are chosen: newer ones that are tested, after a backup, in the window, and one after the other; and the one
// before, where no member runs the other.
func (w *World) checkPatch(act plan.CommitTuning) {
	from, to := w.version(), act.Patch.Version
	if act.Patch.Refused != "" {
		runs := w.running(func(p *Pod) bool { return p.Runs == from })
		if to != w.Status.Tuned.Patch.InsteadOf || act.Patch.Refused != from || runs != nil {
			w.violate("R: %s is taken back for %s, and it was not chosen for that, or a member runs it", from, to)
		}
		return
	}
	switch {
	case to != w.newest() || minorOf(to) != minorOf(from) || version.Compare(to, from) <= 0:
		w.violate("R: %s is followed, from %s", to, from)
	case to == w.Status.Tuned.Patch.Refused:
		w.violate("R: %s is tried again", to)
	case w.Unsaved:
		w.violate("R: %s is followed without a backup", to)
	case w.Shut:
		w.violate("R: %s is followed outside the maintenance window", to)
	case w.running(func(p *Pod) bool { return p.Runs != from }) != nil:
		w.violate("R: %s is followed before all members run %s", to, from)
	}
}

func (e *encoder) patches(p *Patches) {
	e.named(markTested, p.Newest)
	e.rare(markUnready, bits(p.Unsaved, p.Shut))
}

func (e *encoder) chosen(p plan.Patch) {
	if p.Version != "" {
		e.named(markChosen, p.Version+" "+p.InsteadOf+" "+p.Refused)
		e.rare(markInTime, bits(p.Since.Equal(base)))
	}
}
