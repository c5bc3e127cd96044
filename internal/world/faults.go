package world

import (
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Faults by what they strike. Those of the operator are its own slowness, in which it can crash anywhere.
var (
	PodFaults      = []Kind{podKilled, podEnds, serverCrashes, startFails, podSickens, dataWiped, podEvicted}
	NodeFaults     = []Kind{nodeDies, nodeCutOff, podStuck}
	RestoreFaults  = []Kind{restoreFails, sourceRemoved}
	VolumeFaults   = []Kind{volumeLost, volumeDeleted}
	OperatorFaults = []Kind{passHeld, passHeldReading, cacheLags}
	TimeFaults     = []Kind{startLate, endLate, leaderMoves}
	StatusFaults   = []Kind{statusLost}
	// SetBackFaults put status back to before the cluster ID was recorded.
	SetBackFaults = []Kind{statusSetBack, statusSetBackBound}
	ClaimFaults   = []Kind{claimTaken}
	StrangeFaults = []Kind{impostorAnswers, statusLost}
	// MountFaults are pods whose volumes never mount, without a word from Kubernetes, and what makes new pods.
	MountFaults = []Kind{mountFails, podKilled}
	// SilentFaults are those for a world in which dead nodes stay: one that is only cut off would keep its member.
	SilentFaults = []Kind{nodeDies, podKilled, passHeld}
	// Losses are what the operator makes up for with writes of all kinds. The others are one fault each, which leaves room for more.
	Losses    = []Kind{podKilled, nodeDies, volumeDeleted}
	Kills     = []Kind{podKilled}
	Evictions = []Kind{podEvicted}
	// ReplacedDisks are those of a node, below its pods, and what makes new pods.
	ReplacedDisks = []Kind{diskReplaced, podKilled}
	// LingerFaults are pods that are deleted and do not go, and what goes meanwhile.
	LingerFaults = []Kind{podLingers, podKilled, volumeDeleted}
	Holds        = []Kind{passHeld}
	// ForgedFaults are pods that somebody makes as if they were the cluster's, and what makes room for them.
	ForgedFaults = []Kind{podForged, voterForged, voterForgedEarly, voterForgedLate, podKilled, serverCrashes, passHeld}
)

// faults is what goes wrong.
var faults = map[Kind]transition{
	podKilled: {
		name:  "pod killed",
		ifPod: func(_ *World, p *Pod) bool { return !p.Deleting },
		onPod: func(_ *World, p *Pod) { p.Deleting = true },
	},
	podEnds: {
		name:  "pod ends",
		ifPod: func(_ *World, p *Pod) bool { return p.runs() && !p.Deleting },
		onPod: (*World).endPod,
	},
	serverCrashes: {
		name:  "server crashes",
		ifPod: func(w *World, p *Pod) bool { return w.serverRuns(p) && (w.cfg.Abrupt || !p.Deleting) },
		onPod: func(w *World, p *Pod) { w.Etcd.Stop(w.dir(p)) },
	},
	startFails: {
		name: "start fails before there is a log",
		ifPod: func(w *World, p *Pod) bool {
			if !w.canRun(p) || w.disk(p) != nil {
				return false
			}
			_, refusal := w.admit(p)
			return refusal == nil
		},
		onPod: func(w *World, p *Pod) {
			p.Used = p.Permit.Attempt
			_, refusal := w.admit(p)
			p.ends(refusal)
		},
	},
	podSickens: {
		name:  "etcd cannot be started",
		ifPod: (*World).canRun,
		onPod: func(_ *World, p *Pod) { p.Sick, p.Exit, p.Refused = true, plan.ExitBadConfig, 0 },
	},
	nodeDies: {
		name:  "node dies",
		ifPod: func(_ *World, p *Pod) bool { return p.Phase != plan.Pending && !p.Down },
		onPod: func(w *World, p *Pod) {
			p.Down = true
			w.Etcd.Stop(w.dir(p))
		},
	},
	nodeCutOff: {
		name:  "node cut off from the API server",
		ifPod: func(_ *World, p *Pod) bool { return p.Phase != plan.Pending && !p.Down },
		onPod: func(_ *World, p *Pod) { p.Down = true },
	},
	podStuck: {
		name:  "no node for pod",
		ifPod: func(_ *World, p *Pod) bool { return p.Phase == plan.Pending && !p.Stuck && !p.Deleting },
		onPod: func(_ *World, p *Pod) { p.Stuck = true },
	},
	mountFails: {
		name:  "volume cannot be mounted",
		ifPod: func(_ *World, p *Pod) bool { return p.Phase == plan.Pending && !p.Mute && !p.Deleting },
		onPod: func(_ *World, p *Pod) { p.Mute = true },
	},
	restoreFails: {
		name:  "the snapshot cannot be restored, and never will be",
		ifPod: func(w *World, p *Pod) bool { return p.Token != "" && w.canStart(p) && w.disk(p) == nil },
		onPod: func(_ *World, p *Pod) { p.Terminal = true },
	},
	sourceRemoved: {
		name: "somebody removes the EtcdRestore under way, finalizer and all",
		ifWorld: func(w *World) bool {
			return w.Status.ID == 0 && numberOf(w.Status.Bootstrap) > w.Gone && !w.FromSnapshot
		},
		onWorld: func(w *World) { w.Gone = numberOf(w.Status.Bootstrap) },
	},
	dataWiped: {
		name:  "data wiped",
		ifPod: func(w *World, p *Pod) bool { return p.runs() && w.disk(p) != nil },
		onPod: func(w *World, p *Pod) { w.Etcd.Lose(w.dir(p)) },
	},
	diskReplaced: { // before a member serves clients, and while nobody else runs, nothing shows that it was started, not even to etcd
		name: "the disk of the node is replaced below the pod",
		ifPod: func(w *World, p *Pod) bool {
			return p.runs() && !p.Persistent && w.disk(p) != nil && p.Permit != nil &&
				(p.Serving || p.Permit.Mode == member.ModeResume || w.Etcd.ListedStarted(uint64(p.Permit.ClusterID), uint64(p.Permit.MemberID)))
		},
		onPod: func(w *World, p *Pod) {
			w.Etcd.Lose(w.dir(p))
			p.Used = 0
		},
	},
	sidecarsEnd: {
		name:    "another container of each pod ends, and its image is not there any more",
		ifWorld: func(w *World) bool { return w.SidecarsEnded == 0 && w.template() >= 0 },
		onWorld: func(w *World) { w.SidecarsEnded = w.template() + 1 },
	},
	podLingers: {
		name: "pod turns terminal, and a finalizer or a mount keeps it",
		ifPod: func(w *World, p *Pod) bool {
			return p.Deleting && p.Phase != plan.Pending && !p.Down && !p.Held && !w.serverRuns(p)
		},
		onPod: func(w *World, p *Pod) {
			p.Held = true
			w.endPod(p)
		},
	},
	podEvicted: {name: "pod evicted", ifPod: (*World).mayEvict, onPod: (*World).evict},
	startLate: {
		name:  "start is late",
		ifPod: func(_ *World, p *Pod) bool { return !p.Old },
		onPod: func(_ *World, p *Pod) { p.Old = true },
	},
	endLate: {
		name:  "end is late",
		ifPod: func(_ *World, p *Pod) bool { return p.Deleting && !p.Overdue },
		onPod: func(_ *World, p *Pod) { p.Overdue = true },
	},
	impostorAnswers: {
		name:  "impostor answers",
		ifPod: func(_ *World, p *Pod) bool { return p.runs() && !p.Foreign },
		onPod: func(_ *World, p *Pod) { p.Foreign = true },
	},
	volumeLost: {
		name:     "volume lost",
		ifVolume: func(_ *World, v *Volume) bool { return !v.Lost && v.Foreign == "" },
		onVolume: func(w *World, v *Volume) {
			v.Lost = true
			w.Etcd.Lose(v.UID)
		},
	},
	volumeDeleted: {
		name:     "volume deleted",
		ifVolume: func(_ *World, v *Volume) bool { return !v.Lost && !v.Deleting && v.Foreign == "" },
		onVolume: func(_ *World, v *Volume) { v.Deleting = true },
	},
	leaderMoves: {
		name:    "leader moves",
		ifWorld: func(w *World) bool { return w.heir() != 0 },
		onWorld: func(w *World) {
			_ = w.Etcd.MoveLeader(w.group().ID, w.heir()) // it is a running voter: it cannot fail
		},
	},
	cacheLags: {
		name:    "cache lags",
		ifWorld: func(w *World) bool { return w.Cache == nil },
		onWorld: func(w *World) { w.Cache = w.Kube.clone() },
	},
	passHeld:        {name: "operator held up before its effects", ifWorld: (*World).undisturbed, onWorld: (*World).hold},
	passHeldReading: {name: "operator held up while reading", ifWorld: (*World).undisturbed, onWorld: (*World).read},
	statusLost: {
		name:    "status lost",
		ifWorld: func(w *World) bool { return w.Status.ID != 0 || w.Status.Bootstrap != nil },
		onWorld: func(w *World) {
			w.Noted = w.noted()
			w.Status, w.Forgotten, w.SetBack = Status{}, w.Highest, false
			if w.asked() > w.off() { // whether what was saved is of this cluster nobody knows any more
				w.save(&w.Spec)
			}
			w.touched()
		},
	},
	statusSetBack: {name: "status is that of before pods were bound", ifWorld: (*World).started, onWorld: func(w *World) { w.setBack(nil) }},
	statusSetBackBound: {
		name: "status is that of before the cluster ID was recorded", ifWorld: (*World).started,
		onWorld: func(w *World) { w.setBack(w.Status.Bootstrap.InitialPods) },
	},
	claimTaken: {
		name:    "somebody makes a claim with a first member's name",
		ifWorld: func(w *World) bool { return w.unclaimed() != "" },
		onWorld: func(w *World) { w.addForeign(w.unclaimed()) },
	},
}

// passing reports whether a fault costs at most the time that a member takes to start again.
func (w *World) passing(m Move) bool {
	switch m.Kind {
	case podKilled, podEnds, podEvicted:
		return w.pod(m.At).Persistent
	case serverCrashes, leaderMoves, cacheLags, passHeld, passHeldReading, patchTested, backupAges, windowShuts, brakeHolds, modesAdvise, modesOff,
		windowNarrows, trustGiven, trustWithdrawn, operatorStarts,
		diskDrags, diskRecovers, loadRises, loadFalls, loadSwells, usageUntold, resizeDeferred, resizesBarred:
		return true
	default:
		return false
	}
}

// runs reports whether the pod's containers run, as far as anything can be done to them.
func (p *Pod) runs() bool { return p.Phase == plan.Running && !p.Down }

// endPod is a graceful node shutdown, or an eviction by the kubelet: the pod never starts again, and what is in its
// emptyDir is out of reach.
func (w *World) endPod(p *Pod) {
	p.Phase = plan.Finished
	w.Etcd.Stop(w.dir(p))
	if !p.Persistent {
		w.Etcd.Lose(p.UID)
	}
}

// heir is the running voter that would lead next, 0 if there is none.
func (w *World) heir() uint64 {
	g := w.group()
	if g == nil || g.Leader == 0 {
		return 0
	}
	for _, m := range g.Members {
		if m.ID != g.Leader && !m.Learner && w.Etcd.Running(g.ID, m.ID) {
			return m.ID
		}
	}
	return 0
}

// mayEvict is what the API server decides: the budget covers pods that serve, and counts those that are ready.
func (w *World) mayEvict(p *Pod) bool {
	if !p.Serving || p.Deleting || p.Evicting || !w.Budget.Exists || !w.Budget.Seen {
		return false
	}
	healthy := 0
	for i := range w.Pods {
		if q := &w.Pods[i]; q.Serving && !q.Deleting && !q.Evicting && w.ready(q) {
			healthy++
		}
	}
	return healthy > w.Budget.Min
}

func (w *World) evict(p *Pod) {
	before := w.standing(false)
	p.Evicting = true
	w.checkEviction(before, w.standing(false))
}
