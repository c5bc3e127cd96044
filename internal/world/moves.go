package world

import (
	"fmt"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Move is one transition.
type Move struct {
	Kind Kind
	// At is the name of the pod or volume that it is about, empty for the operator and the user.
	At string
}

// Kind is what happens.
type Kind int

// What is bound to happen.
const (
	podStarts Kind = iota
	memberRuns
	publishes
	catchesUp
	podGone
	volumeGone
	budgetSeen
	evictionLands
	cacheFollows
	impostorGone
	// What may happen.
	clientWrites
	userResizes
	nodeReturns
	// The operator.
	passes
	passGoesOn
	passReadsOn
	operatorCrashes
	// Time, and what others do in the end.
	timePasses
	nodeTainted
	podCollected
	podUnstuck
	// Faults.
	podKilled
	podEnds
	serverCrashes
	startFails
	nodeDies
	nodeCutOff
	podStuck
	dataWiped
	volumeLost
	volumeDeleted
	podEvicted
	leaderMoves
	startLate
	endLate
	cacheLags
	passHeld
	passHeldReading
	impostorAnswers
	statusLost
	kinds
)

var kindNames = [kinds]string{
	"pod starts", "member-run runs", "member publishes", "member catches up", "pod is gone", "volume is gone",
	"disruption controller follows", "eviction deletes the pod", "cache follows", "impostor is gone",
	"client writes", "user resizes", "node returns",
	"operator acts", "operator takes one effect", "operator goes on after reading", "operator crashes",
	"time passes", "node is tainted", "pod is collected", "node is found for pod",
	"FAULT pod killed", "FAULT pod ends", "FAULT server crashes", "FAULT start fails before there is a log",
	"FAULT node dies", "FAULT node cut off", "FAULT no node for pod", "FAULT data wiped", "FAULT volume lost",
	"FAULT volume deleted", "FAULT pod evicted", "FAULT leader moves", "FAULT start is late", "FAULT end is late",
	"FAULT cache lags", "FAULT operator held up before its effects", "FAULT operator held up while reading",
	"FAULT impostor answers", "FAULT status lost",
}

// String is for traces.
func (m Move) String() string {
	if m.At == "" {
		return kindNames[m.Kind]
	}
	return fmt.Sprintf("%s: %s", kindNames[m.Kind], m.At)
}

// bound lists what will happen sooner or later if nothing else does.
func (w *World) bound() []Move {
	var moves []Move
	add := func(yes bool, kind Kind, at string) {
		if yes {
			moves = append(moves, Move{kind, at})
		}
	}
	add(w.Cache != nil, cacheFollows, "")
	for i := range w.Pods {
		p := &w.Pods[i]
		add(p.Foreign, impostorGone, p.Name)
		add(p.Evicting && !p.Deleting, evictionLands, p.Name)
		add(p.Deleting && !p.Down, podGone, p.Name)
		add(w.canStart(p), podStarts, p.Name)
		add(w.canRun(p), memberRuns, p.Name)
		d := w.disk(p)
		if d == nil || !d.Running {
			continue
		}
		g := w.Etcd.Group(d.ClusterID)
		m := g.Member(d.MemberID)
		add(g.Leader != 0 && m != nil && !m.Published, publishes, p.Name)
		add(g.Leader != 0 && m != nil && m.Learner && !(d.Synced && m.Matched), catchesUp, p.Name)
	}
	for i := range w.Volumes {
		add(w.Volumes[i].Deleting && !w.used(&w.Volumes[i]), volumeGone, w.Volumes[i].Name)
	}
	add(w.Budget.Exists && !w.Budget.Seen, budgetSeen, "")
	return moves
}

// possible lists what may happen without being a fault.
func (w *World) possible() []Move {
	var moves []Move
	if g := w.group(); w.Status.ID == 0 && g != nil && g.Leader != 0 && !g.Written {
		moves = append(moves, Move{clientWrites, ""})
	}
	if len(w.Edits) > 0 {
		moves = append(moves, Move{userResizes, ""})
	}
	for i := range w.Pods {
		if w.Pods[i].Down {
			moves = append(moves, Move{nodeReturns, w.Pods[i].Name})
		}
	}
	return moves
}

// inTheEnd lists what happens once nothing else does: deadlines pass, and dead nodes are taken out of the cluster.
func (w *World) inTheEnd() []Move {
	var last []Move
	late := false
	for i := range w.Pods {
		p := &w.Pods[i]
		late = late || !p.Old || p.Deleting && !p.Overdue
		if p.Down && !p.Deleting {
			last = append(last, Move{nodeTainted, p.Name})
		}
		if p.Down && p.Deleting {
			last = append(last, Move{podCollected, p.Name})
		}
		if p.Stuck {
			last = append(last, Move{podUnstuck, p.Name})
		}
	}
	if late {
		return []Move{{timePasses, ""}}
	}
	return last
}

// Do makes the move.
func (w *World) Do(m Move) {
	if m.Kind >= podKilled {
		w.Faults--
		w.fail(m)
		w.checkHarm()
		return
	}
	p := w.pod(m.At)
	switch m.Kind {
	case podStarts:
		p.Phase = plan.Running
	case memberRuns:
		w.memberRun(p)
	case publishes:
		d := w.disk(p)
		w.Etcd.Publish(d.ClusterID, d.MemberID)
	case catchesUp:
		d := w.disk(p)
		w.Etcd.CatchUp(d.ClusterID, d.MemberID)
	case podGone, podCollected:
		w.removePod(m.At)
	case volumeGone:
		w.removeVolume(m.At)
	case evictionLands:
		p.Deleting = true
	case impostorGone:
		p.Foreign = false
	case nodeReturns:
		p.Down = false
	case nodeTainted:
		p.Deleting = true
	case podUnstuck:
		p.Stuck = false
	default:
		w.doGlobal(m.Kind)
	}
	w.forget()
	w.checkHarm()
}

func (w *World) doGlobal(kind Kind) {
	switch kind {
	case budgetSeen:
		w.Budget.Seen = true
	case cacheFollows:
		w.Cache = nil
	case clientWrites:
		w.Etcd.Write(w.group().ID)
	case userResizes:
		w.Size, w.Edits = w.Edits[0], w.Edits[1:]
		w.touched()
	case timePasses:
		for i := range w.Pods {
			w.Pods[i].Old = true
			w.Pods[i].Overdue = w.Pods[i].Deleting
		}
	case passes:
		w.pass()
		w.written()
	case passGoesOn:
		w.next()
		w.written()
	case passReadsOn:
		w.resume()
		w.written()
	case operatorCrashes:
		w.drop()
	}
}

// written is what clients do as soon as they are let in.
func (w *World) written() {
	if g := w.Etcd.Group(w.Status.ID); w.Status.ID != 0 && g != nil && !g.Written {
		w.Etcd.Write(g.ID)
	}
}

// forget drops clusters that nobody can come back to.
func (w *World) forget() {
	w.Etcd.Forget(func(id uint64) bool {
		b := w.Status.Bootstrap
		return id == w.Status.ID || b != nil && id == b.ClusterID
	})
}
