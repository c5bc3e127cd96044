package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// recovery is what the API server holds of a recovery from a lost quorum.
type recovery struct {
	// Confirmed is the hash of the plan that the user has confirmed last.
	Confirmed string
	// Plan is that of the EtcdRestore, empty if there is none, and Survivor the member that it names. Failed is true once that is void.
	Plan, Survivor string
	Failed         bool
	// Number is the EtcdRestore's among all restores once it has saved what the survivor holds, and asks for the cluster to be restarted
	// from that; 0 before.
	Number int
}

// What may befall a quorum, and what a user may make of it.
var (
	// ConfirmedLosses are members that lose their data, and a user who confirms the plan.
	ConfirmedLosses = []Kind{dataWiped, planConfirmed}
	// LossesAndSplits lose members' data, and leave the rest to somebody who may confirm the plan.
	LossesAndSplits = []Kind{dataWiped, networkSplits}
	// SplitFaults are silence, and a user who confirms that nevertheless.
	SplitFaults = []Kind{networkSplits, planConfirmed, passHeld}
	// SplitLosses are silence that turns out to be a loss.
	SplitLosses = []Kind{networkSplits, planConfirmed, volumeDeleted, podKilled}
	// CutOffs leave the operator without a word from members that go on, and make new pods.
	CutOffs = []Kind{operatorCutOff, podKilled, passHeld}
	// SidecarFaults are a container beside etcd in each pod that ends for good, while the operator hears the members, and while it does not.
	SidecarFaults = []Kind{sidecarsEnd, operatorCutOff}
	// SilentLosses leave pods on nodes that do not report.
	SilentLosses = []Kind{nodeDies, planConfirmed}
)

// recoveries are the moves of a recovery.
var recoveries = map[Kind]transition{
	survivorSaved: {
		name: "the EtcdRestore has saved and verified what the survivor holds",
		ifWorld: func(w *World) bool {
			r := w.Recovery
			return r.Plan != "" && !r.Failed && r.Number == 0 && w.planned() == r.Plan
		},
		onWorld: func(w *World) {
			w.Restore++
			w.Recovery.Number, w.Saved, w.Minority = w.Restore, revision(w.group()), true
		},
	},
	recoveryVoided: {
		name: "the EtcdRestore finds the plan to be another one",
		ifWorld: func(w *World) bool {
			if !w.recovering() {
				return false
			}
			g, now := w.Etcd.Group(w.Status.ID), w.planned()
			return now != w.Recovery.Plan && (now != "" || g != nil && g.Leader != 0 && w.Apart == "")
		},
		onWorld: func(w *World) {
			w.Recovery.Failed = true
			w.CalledOff = max(w.CalledOff, w.Recovery.Number)
		},
	},
	planConfirmed: {
		name:    "somebody confirms the plan",
		ifWorld: func(w *World) bool { hash := w.planned(); return hash != "" && hash != w.Recovery.Confirmed },
		onWorld: func(w *World) {
			w.Recovery.Confirmed = w.planned()
			w.touched()
		},
	},
	networkSplits: {
		name: "the network splits: this member and the operator are on one side, a majority on the other",
		ifPod: func(w *World, p *Pod) bool {
			s, runs := w.server(p)
			return w.Apart == "" && runs && s.group.ID == w.Status.ID && s.member != nil && !s.member.Learner && s.group.Leader != 0 &&
				w.runningBeside(s.group, s.member.ID) >= etcdtest.Quorum(s.group.Voters())
		},
		onPod: func(w *World, p *Pod) {
			if s, _ := w.server(p); s.group.Leader == s.member.ID {
				_ = w.Etcd.MoveLeader(s.group.ID, w.heir()) // it is a running voter: it cannot fail
			}
			w.Apart = p.Name
		},
	},
	operatorCutOff: {
		name:    "the operator reaches no member",
		ifWorld: func(w *World) bool { return w.Apart == "" },
		onWorld: func(w *World) { w.Apart = nobody },
	},
	networkHeals: {
		name:    "the network is whole again",
		ifWorld: func(w *World) bool { return w.Apart != "" },
		onWorld: func(w *World) { w.Apart = "" },
	},
}

// nobody is no member's name.
const nobody = "nobody"

// runningBeside counts the voters that run, but for one.
func (w *World) runningBeside(g *etcdtest.Group, except uint64) int {
	n := 0
	for i := range g.Members {
		if m := &g.Members[i]; m.ID != except && !m.Learner && w.Etcd.Running(g.ID, m.ID) {
			n++
		}
	}
	return n
}

// planned is the hash of the plan that status shows, empty if there is none.
func (w *World) planned() string {
	if g := w.Etcd.Group(w.Status.ID); w.Status.ID == 0 || g == nil || g.Leader != 0 && w.Apart == "" {
		return "" // which is what there would be, at the price of an observation in each state
	}
	if r := plan.Assess(w.Observe(&w.Kube)).Recovery; r != nil {
		return r.Hash
	}
	return ""
}

// recovering reports whether an EtcdRestore is to recover the cluster, and has not been taken up.
func (w *World) recovering() bool {
	r := w.Recovery
	return r.Plan != "" && !r.Failed && (r.Number == 0 || w.Status.Taken < r.Number)
}

// recovers notes what was asked for in case of a lost quorum.
func (k *Kube) recovers(c *plan.Cluster) {
	r := k.Recovery
	c.Recovery = plan.RecoveryPolicy{
		Confirmed: r.Confirmed, RestorePlan: r.Plan,
	}
	if r.Plan != "" {
		c.Recovery.Restore = "recovery"
	}
	if r.Failed {
		c.Recovery.RestoreFailed = "RecoveryVoid"
	}
	if c.Restore != "" && k.ofSurvivor(k.asked()) {
		c.RestorePlan, c.RestoreSurvivor = r.Plan, r.Survivor
	}
}

// ofSurvivor reports whether the n-th restore is the recovery.
func (k *Kube) ofSurvivor(n int) bool { return n != 0 && n == k.Recovery.Number }

// createRecovery creates the EtcdRestore of a recovery. It supersedes an earlier one.
func (w *World) createRecovery(e plan.CreateRestore) bool {
	if w.Recovery.Plan == e.Plan {
		return false
	}
	if w.recovering() {
		w.CalledOff = max(w.CalledOff, w.Recovery.Number)
	}
	w.Recovery = recovery{Confirmed: w.Recovery.Confirmed, Plan: e.Plan, Survivor: e.Survivor}
	return true
}

// checkConfirmed is S8 for the EtcdRestore: a quorum is given up by whoever has seen the plan, and by nobody else.
func (w *World) checkConfirmed(a plan.CreateRestore) {
	if a.Survivor != "" && a.Plan != w.Recovery.Confirmed {
		w.violate("S8: a recovery from a lost quorum, which nobody has confirmed")
	}
}

// checkGivenUp is S8 for its start: nothing is replaced once a majority is back, or if the plan has become another one.
func (w *World) checkGivenUp(next plan.Bootstrap) {
	if !w.Status.StartsRestore(next) || !w.ofSurvivor(numberOf(&next)) {
		return
	}
	g := w.Etcd.Group(w.Status.ID)
	switch {
	case g != nil && g.Leader != 0 && w.Apart == "":
		w.violate("S8: what a survivor holds replaces the data, although the quorum is back")
	case w.planned() != w.Recovery.Plan:
		w.violate("S8: what a survivor holds replaces the data by another plan than was confirmed")
	case !next.Recovery:
		w.violate("S8: a recovery from a lost quorum begins as if nobody could be serving elsewhere")
	}
}

// checkAlone is S8 for the new cluster: it starts only once no pod of the one that it replaces is left.
func (w *World) checkAlone(p *Pod) {
	b := w.Status.Bootstrap
	if b == nil || w.Status.ID != 0 || !w.ofSurvivor(numberOf(b)) || p.Incarnation != b.Incarnation {
		return
	}
	if i := slices.IndexFunc(w.Pods, func(old Pod) bool {
		return w.Status.Previous != nil && old.Incarnation < w.Status.Incarnations.FirstRestore
	}); i >= 0 {
		w.violate("S8: %s is let start while %s may still serve in a majority", p.Name, w.Pods[i].Name)
	}
}

// recovery is what there is of one, nothing in worlds without.
func (e *encoder) recovery(r recovery) {
	e.named(markConfirmed, r.Confirmed)
	e.named(markRecovery, r.Plan)
	e.rare(markSurvivor, 2*r.Number+bits(r.Failed))
}

func (e *encoder) named(mark byte, text string) {
	if text != "" {
		e.buf = append(e.buf, mark)
		e.text(text)
	}
}
