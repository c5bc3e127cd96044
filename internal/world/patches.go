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
	// Unsaved is true while no backup of the last day is verified, Shut while the maintenance window is closed, Narrow while it is about to close, and
	// Elsewhere while the release was rolled back in another cluster a moment ago.
	Unsaved, Shut, Narrow, Elsewhere bool
	// Sour is the release that has failed a while after its start and never starts again, empty if none has.
	Sour string
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
		ifWorld: func(w *World) bool { return w.piloted() && (w.Follows || w.cfg.Tested == nil) && !w.Shut },
		onWorld: func(w *World) { w.Shut, w.Narrow = true, false },
	},
	windowNarrows: {
		name:    "the maintenance window is about to close",
		ifWorld: func(w *World) bool { return w.piloted() && !w.Shut && !w.Narrow },
		onWorld: func(w *World) { w.Narrow = true },
	},
	windowOpens: {
		name:    "the maintenance window opens",
		ifWorld: func(w *World) bool { return w.Shut || w.Narrow },
		onWorld: func(w *World) { w.Shut, w.Narrow = false, false },
	},
	patchSours: {
		name:    "a release fails a while after its start",
		ifWorld: func(w *World) bool { return w.Sour == "" && w.fresh() },
		onWorld: (*World).sour,
	},
	refusedElsewhere: {
		name:    "the release is rolled back in another cluster",
		ifWorld: func(w *World) bool { return w.Follows && !w.Elsewhere && w.behind() },
		onWorld: func(w *World) { w.Elsewhere = true },
	},
	allowedAgain: {
		name:    "a day has passed since another cluster took the release back",
		ifWorld: func(w *World) bool { return w.Elsewhere },
		onWorld: func(w *World) { w.Elsewhere = false },
	},
}

// PatchFaults are new patch releases, and what they wait for. SourFaults are releases that fail later, LateFaults beside members that fail for
// another reason, and FleetFaults those that fail elsewhere. CorruptFaults are releases on whose trial etcd finds that data differs, and somebody
// disarms that alarm, sooner or later.
var (
	PatchFaults = []Kind{patchTested, backupAges, windowShuts}
	SourFaults  = []Kind{patchTested, patchSours}
	LateFaults  = []Kind{patchTested, patchSours, serverCrashes, podKilled, volumeLost, passHeld}
	FleetFaults = []Kind{patchTested, refusedElsewhere, passHeld}

	CorruptFaults = []Kind{patchTested, alarmRaised, alarmDisarmed, podKilled, passHeld}
)

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
	if k.Follows && minorOf(k.Noted) == minorOf(k.Version) {
		return k.Noted
	}
	return k.Version
}

// newest is the newest release of the minor release that the user asks for, empty if they ask for a whole version.
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
	return newest != "" && newest != w.version() && !w.Status.Refuses(newest)
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
	o.Cluster.NewestPatch = w.newest()
	if due := plan.PatchDue(*o); due && !w.Unsaved {
		o.Cluster.Backup = plan.RecoveryBackup{EtcdBackup: "backup", Snapshot: "snapshot", Taken: base.Add(-time.Hour)}
	}
	if w.Elsewhere && plan.PatchDue(*o) {
		o.Cluster.RefusedElsewhere = base
	}
}

// checkPatch is for releases that are chosen: newer ones that are tested, after a backup, and one after the other; and the one before, where no member
// runs the other.
func (w *World) checkPatch(act plan.CommitTuning) {
	from, to := w.version(), act.Patch.Version
	if act.Refused.Version != "" {
		well := w.running(func(p *Pod) bool { return p.Runs == from && p.Restarts == 0 })
		if to != w.Status.Tuned.Patch.InsteadOf || act.Refused.Version != from || well != nil && !w.Alarm {
			w.violate("R: %s is rolled back for %s, and it was not chosen for that, or a member runs it", from, to)
		}
		return
	}
	switch {
	case to != w.newest() || minorOf(to) != minorOf(from) || version.Compare(to, from) <= 0:
		w.violate("R: %s is followed, from %s", to, from)
	case w.Status.Refuses(to):
		w.violate("R: %s is tried again", to)
	case w.Unsaved:
		w.violate("R: %s is followed without a backup", to)
	case w.Elsewhere:
		w.violate("R: %s is followed, and was rolled back in another cluster", to)
	case w.running(func(p *Pod) bool { return p.Runs != from }) != nil:
		w.violate("R: %s is followed before all members run %s", to, from)
	}
}

func (e *encoder) patches(p *Patches) {
	e.named(markTested, p.Newest)
	e.rare(markUnready, bits(p.Unsaved, p.Shut, p.Elsewhere, p.Narrow))
	e.named(markSour, p.Sour)
}

func (e *encoder) chosen(k *Kube) {
	p := k.Status.Tuned.Patch
	if p.Version != "" {
		instead := p.InsteadOf
		if p.GivenUp.Version != "" {
			instead = "of none"
		}
		e.named(markChosen, p.Version+" "+instead)
		e.rare(markInTime, bits(p.Since.Equal(base)))
	}
	e.tried(p.Trial)
	e.named(markNoted, k.Noted)
	for _, refused := range k.Status.RefusedPatches {
		e.named(markRefused, refused.Version)
	}
}

func (e *encoder) tried(t plan.PatchTrial) {
	if t.Member == "" {
		return
	}
	e.named(markTrial, t.Member+" "+t.PodUID)
	times := bits(true, t.Began.Equal(base), !t.Healthy.IsZero(), t.Healthy.Equal(base), !t.Failing.IsZero(), t.Failing.Equal(base), t.WasHealthy)
	e.rare(markTrialTimes, 128*t.Restarts+times)
	e.rare(markTrialCorrupt, bits(t.Corrupt))
}
