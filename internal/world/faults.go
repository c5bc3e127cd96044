package world

import (
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// faults lists what can go wrong now, of the given kinds.
func (w *World) faults(kinds []Kind) []Move {
	var moves []Move
	if w.Faults <= 0 {
		return nil
	}
	for _, kind := range kinds {
		switch kind {
		case leaderMoves, cacheLags, passHeld, passHeldReading, statusLost:
			if w.canFail(kind) {
				moves = append(moves, Move{kind, ""})
			}
		case volumeLost, volumeDeleted:
			for _, v := range w.Volumes {
				if !v.Lost && (!v.Deleting || kind == volumeLost) {
					moves = append(moves, Move{kind, v.Name})
				}
			}
		default:
			for i := range w.Pods {
				if w.podCanFail(kind, &w.Pods[i]) {
					moves = append(moves, Move{kind, w.Pods[i].Name})
				}
			}
		}
	}
	return moves
}

func (w *World) canFail(kind Kind) bool {
	switch kind {
	case leaderMoves:
		return w.heir() != 0
	case cacheLags:
		return w.Cache == nil
	case statusLost:
		return w.Status.ID != 0
	default:
		return w.Pending == nil && w.Read == nil
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

func (w *World) podCanFail(kind Kind, p *Pod) bool {
	runs := p.Phase == plan.Running && !p.Down
	switch kind {
	case podKilled:
		return !p.Deleting
	case podEnds:
		return runs && !p.Deleting
	case serverCrashes:
		return w.serverRuns(p)
	case startFails:
		return w.canRun(p) && w.disk(p) == nil && w.refusal(p) == plan.ExitNone
	case nodeDies, nodeCutOff:
		return p.Phase != plan.Pending && !p.Down
	case podStuck:
		return p.Phase == plan.Pending && !p.Stuck && !p.Deleting
	case dataWiped:
		return w.disk(p) != nil && runs
	case podEvicted:
		return w.mayEvict(p)
	case startLate:
		return !p.Old
	case endLate:
		return p.Deleting && !p.Overdue
	case impostorAnswers:
		return runs && !p.Foreign
	}
	return false
}

// mayEvict is what the API server decides: the budget covers pods that serve, and counts those that are ready.
func (w *World) mayEvict(p *Pod) bool {
	if !p.Serving || p.Deleting || p.Evicting || !w.Budget.Exists || !w.Budget.Seen {
		return false
	}
	healthy := 0
	for i := range w.Pods {
		q := &w.Pods[i]
		if q.Serving && !q.Deleting && !q.Evicting && w.ready(q) {
			healthy++
		}
	}
	return healthy > w.Budget.Min
}

// fail makes something go wrong.
func (w *World) fail(m Move) {
	if m.At == "" {
		w.failGlobal(m.Kind)
		return
	}
	if m.Kind == volumeLost || m.Kind == volumeDeleted {
		w.failVolume(m)
		return
	}
	p := w.pod(m.At)
	switch m.Kind {
	case podKilled:
		p.Deleting = true
	case podEnds:
		p.Phase = plan.Terminal
		w.Etcd.Stop(w.dir(p))
		if !w.cfg.Persistent {
			w.Etcd.Lose(p.UID) // the kubelet never starts it again: what it holds is out of reach
		}
	case serverCrashes:
		w.Etcd.Stop(w.dir(p))
	case startFails:
		p.Used = p.Permit.Attempt
		w.refuse(p)
	case nodeDies:
		p.Down = true
		w.Etcd.Stop(w.dir(p))
	case nodeCutOff:
		p.Down = true
	case podStuck:
		p.Stuck = true
	case dataWiped:
		w.Etcd.Lose(w.dir(p))
	case podEvicted:
		before := w.standing(false)
		p.Evicting = true
		w.checkEviction(before, w.standing(false))
	case startLate:
		p.Old = true
	case endLate:
		p.Overdue = true
	case impostorAnswers:
		p.Foreign = true
	}
}

func (w *World) failVolume(m Move) {
	v := w.volume(m.At)
	if m.Kind == volumeLost {
		v.Lost = true
		w.Etcd.Lose(v.UID)
		return
	}
	v.Deleting = true
}

func (w *World) failGlobal(kind Kind) {
	switch kind {
	case leaderMoves:
		_ = w.Etcd.MoveLeader(w.group().ID, w.heir()) // it is a running voter: it cannot fail
	case cacheLags:
		w.Cache = w.Kube.clone()
	case passHeld:
		w.hold()
	case passHeldReading:
		w.read()
	case statusLost:
		w.Status = Status{}
		w.touched()
	}
}

// Faults by what they strike. Those of the operator are its own slowness and its crashes.
var (
	PodFaults      = []Kind{podKilled, podEnds, serverCrashes, startFails, dataWiped, podEvicted}
	NodeFaults     = []Kind{nodeDies, nodeCutOff, podStuck}
	VolumeFaults   = []Kind{volumeLost, volumeDeleted}
	OperatorFaults = []Kind{passHeld, passHeldReading, cacheLags}
	TimeFaults     = []Kind{startLate, endLate, leaderMoves}
	StrangeFaults  = []Kind{impostorAnswers, statusLost}
)
