package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// surroundings is what Kubernetes, etcd, the nodes and the users do.
var surroundings = map[Kind]transition{
	impostorGone: {
		name:  "impostor is gone",
		ifPod: func(_ *World, p *Pod) bool { return p.Foreign },
		onPod: func(_ *World, p *Pod) { p.Foreign = false },
	},
	evictionLands: {
		name:  "eviction deletes the pod",
		ifPod: func(_ *World, p *Pod) bool { return p.Evicting && !p.Deleting },
		onPod: func(_ *World, p *Pod) { p.Deleting = true },
	},
	serverEnds: {
		name:  "etcd ends in its grace period",
		ifPod: func(w *World, p *Pod) bool { return !w.cfg.Abrupt && p.Deleting && !p.Down && w.serverRuns(p) },
		onPod: func(w *World, p *Pod) { w.Etcd.Stop(w.dir(p)) },
	},
	podReleased: {
		name:  "nothing keeps the pod any more",
		ifPod: func(w *World, p *Pod) bool { return p.Held && !w.cfg.Silent },
		onPod: func(_ *World, p *Pod) { p.Held = false },
	},
	podGone: {
		name: "pod is gone",
		ifPod: func(w *World, p *Pod) bool {
			return p.Deleting && !p.Down && !p.Held && (w.cfg.Abrupt || !w.serverRuns(p))
		},
		onPod: (*World).removePod,
	},
	podStarts: {
		name:  "pod starts",
		ifPod: (*World).canStart,
		onPod: (*World).startPod,
	},
	memberRuns: {name: "member-run runs", ifPod: (*World).canRun, onPod: (*World).memberRun},
	publishes: {
		name: "member publishes",
		ifPod: func(w *World, p *Pod) bool {
			s, ok := w.server(p)
			return ok && s.group.Leader != 0 && s.member != nil && !s.member.Published
		},
		onPod: func(w *World, p *Pod) {
			d := w.disk(p)
			w.Etcd.Publish(d.ClusterID, d.MemberID)
		},
	},
	catchesUp: {
		name: "member catches up",
		ifPod: func(w *World, p *Pod) bool {
			s, ok := w.server(p)
			learner := ok && s.group.Leader != 0 && s.member != nil && s.member.Learner
			return learner && !(s.disk.Synced && s.member.Matched)
		},
		onPod: func(w *World, p *Pod) {
			d := w.disk(p)
			w.Etcd.CatchUp(d.ClusterID, d.MemberID)
			w.copies(w.Etcd.Group(d.ClusterID), d.MemberID)
		},
	},
	volumeGone: {
		name:     "volume is gone",
		ifVolume: func(w *World, v *Volume) bool { return v.Deleting && !w.used(v) },
		onVolume: (*World).removeVolume,
	},
	budgetSeen: {
		name:    "disruption controller follows",
		ifWorld: func(w *World) bool { return w.Budget.Exists && !w.Budget.Seen },
		onWorld: func(w *World) { w.Budget.Seen = true },
	},
	containerEnds: {
		name:  "container ends for its new image",
		ifPod: func(_ *World, p *Pod) bool { return p.Restarting && !p.Down },
		onPod: func(w *World, p *Pod) {
			w.Etcd.Stop(w.dir(p))
			p.Restarting = false
		},
	},
	imagePulled: {
		name: "images are fetched",
		ifWorld: func(w *World) bool {
			return slices.ContainsFunc(w.Pulls, func(p plan.PrepullPod) bool { return !p.Done })
		},
		onWorld: func(w *World) {
			for i := range w.Pulls {
				w.Pulls[i].Done = true
			}
		},
	},
	versionFollows: {
		name:    "etcd's leader looks at the versions",
		ifWorld: func(w *World) bool { return w.Etcd.VersionDue(w.Status.ID) },
		onWorld: func(w *World) { w.Etcd.FollowVersion(w.Status.ID) },
	},
	restoreRefused: {
		name:    "the EtcdRestore looks again at what could not be kept",
		ifWorld: (*World).refuses,
		onWorld: (*World).lookAgain,
	},
	cacheFollows: {
		name:    "cache follows",
		ifWorld: func(w *World) bool { return w.Cache != nil },
		onWorld: func(w *World) { w.Cache = nil },
	},
	clientWrites: {
		name: "client writes",
		ifWorld: func(w *World) bool {
			g := w.group()
			return w.Status.ID == 0 && g != nil && g.Leader != 0 && !g.Written
		},
		onWorld: func(w *World) { w.Etcd.Write(w.group().ID) },
	},
	userEdits: {
		name:    "user edits",
		ifWorld: func(w *World) bool { return len(w.Edits) > 0 },
		onWorld: func(w *World) {
			same := w.sameCluster(w.Edits[0])
			next := w.Edits[0]
			next.LastSkip = max(next.LastSkip, w.LastSkip)
			next.FirstSkip = cmp.Or(w.FirstSkip, next.FirstSkip)
			if next.Saved, next.Minority = w.Saved, w.Minority; next.Restore != w.Restore {
				w.save(&next)
			}
			if w.Spec, w.Edits = next, w.Edits[1:]; !same {
				w.touched()
				w.Tried = nil
			}
		},
	},
	nodeReturns: {
		name:  "node returns",
		ifPod: func(w *World, p *Pod) bool { return p.Down && !w.away(p) },
		onPod: func(_ *World, p *Pod) { p.Down = false },
	},
	timePasses: {name: "time passes", ifWorld: (*World).early, onWorld: (*World).wait},
	nodeTainted: {
		name:  "node is tainted",
		ifPod: func(_ *World, p *Pod) bool { return p.Down && !p.Deleting },
		onPod: func(_ *World, p *Pod) { p.Deleting = true },
	},
	podCollected: {
		name:  "pod is collected",
		ifPod: func(w *World, p *Pod) bool { return p.Down && p.Deleting && !w.cfg.Silent },
		onPod: (*World).removePod,
	},
	podUnstuck: {
		name:  "node is found for pod",
		ifPod: func(w *World, p *Pod) bool { return p.Stuck && !(w.cfg.Spareless && p.Avoids != "") && !w.cramps(p) },
		onPod: func(_ *World, p *Pod) { p.Stuck = false },
	},
	podHeals: {
		name:  "what kept etcd from starting is gone",
		ifPod: func(_ *World, p *Pod) bool { return p.Sick },
		onPod: func(_ *World, p *Pod) { p.Sick = false },
	},
	forgedGone: {
		name:  "somebody deletes the forged pod",
		ifPod: func(_ *World, p *Pod) bool { return p.Lie != honest },
		onPod: (*World).removePod,
	},
}

// operators are the moves of the operator.
var operators = map[Kind]transition{
	passes: {
		name:    "operator acts",
		ifWorld: (*World).undisturbed,
		onWorld: func(w *World) { w.pass(); w.written() },
	},
	passGoesOn: {
		name:    "operator takes one effect",
		ifWorld: func(w *World) bool { return w.Pending != nil },
		onWorld: func(w *World) { w.next(); w.written() },
	},
	passReadsOn: {
		name:    "operator goes on after reading",
		ifWorld: func(w *World) bool { return w.Read != nil },
		onWorld: func(w *World) { w.resume(); w.written() },
	},
	operatorCrashes: {
		name:    "operator crashes",
		ifWorld: func(w *World) bool { return !w.undisturbed() },
		onWorld: func(w *World) {
			w.drop()
			w.startAnew()
		},
	},
}

// early reports whether a deadline has yet to pass.
func (w *World) early() bool {
	for i := range w.Pods {
		if p := &w.Pods[i]; !p.Old || p.Deleting && !p.Overdue {
			return true
		}
	}
	return w.Status.moved() || w.Status.chosen() || w.Status.tries() || w.Status.relocates() || w.Status.resizedLately()
}

// wait lets every deadline pass.
func (w *World) wait() {
	for i := range w.Pods {
		w.Pods[i].Old = true
		w.Pods[i].Overdue = w.Pods[i].Deleting
	}
	if w.Status.moved() {
		w.Status.LeaderMoved = base.Add(-time.Hour)
	}
	if w.Status.chosen() {
		w.Status.Tuned.Patch.Since = base.Add(-time.Hour)
		if w.Status.Tuned.Patch.GivenUp.Version != "" {
			w.Status.Tuned.Patch.Since = base.Add(-24 * time.Hour)
		}
	}
	w.age()
	if w.Status.resizedLately() {
		w.Status.Tuned.Resized.Since = resizedSince(w.Status.Tuned.Resized.Since)
	}
	if w.Status.relocates() {
		w.Status.Relocation.Since = later(w.Status.Relocation.Since)
	}
}

// retain deletes the EtcdCluster and everything but the volumes, and creates another of the same name. Pods that linger are
// on their way out.
func (w *World) retain(linger bool) {
	for i := range w.Pods {
		w.Pods[i].Former, w.Pods[i].Deleting = true, true
	}
	for len(w.Pods) > 0 && !linger {
		w.removePod(&w.Pods[0])
	}
	for i := range w.Volumes {
		w.Volumes[i].Owned = false
	}
	w.Status, w.Highest, w.Budget, w.Pulls = Status{}, 0, Budget{}, nil
}

// written is what clients do as soon as they are let in.
func (w *World) written() {
	if g := w.Etcd.Group(w.Status.ID); w.Status.ID != 0 && g != nil && !g.Written && !w.rolledBack() {
		w.Etcd.Write(g.ID)
	}
}
