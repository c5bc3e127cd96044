package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

// Scenario is where an exploration begins and what may happen in it.
type Scenario struct {
	Config
	// Spec is the first one.
	Spec Spec
	// Running is true to begin with a cluster that has reached its spec, false to begin with nothing.
	Running bool
	// Retained is true to begin with the volumes that a cluster of that size has left behind when it was deleted, and with
	// a new EtcdCluster of its name.
	Retained bool
	// Linger is true if the pods of that cluster are there still.
	Linger bool
	// Claims is true to begin with claims of others that have the cluster's labels, and Copies with one that has the name of
	// the initial member: a copy of its volume, in the place of that.
	Claims, Copies bool
	// RanBefore is true to begin with the status that coreos/etcd-operator has left.
	RanBefore bool
	// Edits are what the user asks for afterwards, at any time, in this order.
	Edits []Spec
	// Before are faults that have happened before the exploration begins.
	Before []Kind
	// Faults is how many faults a run may have, and Kinds which.
	Faults int
	Kinds  []Kind
	// Lockstep lets of all that is bound to happen only one thing happen next, in a fixed order. What interleaves with it
	// are the operator, the user and the faults. It makes room for more faults.
	Lockstep bool
	// SafetyOnly leaves out what is to happen in the end (L1, L2).
	SafetyOnly bool
	// Limit is the number of states after which the exploration fails as too large, 0 for none.
	Limit int
	// Record is told what the operator decides in each state, by the state's key; nil to tell nobody.
	Record func(key uint64, decided plan.Action)
	// Stop ends the exploration at the state with that key, for its report; 0 for none.
	Stop uint64
}

// Report is what an exploration found.
type Report struct {
	States, Moves, Depth int
	// Violation is the first violation in breadth-first order, nil if there is none.
	Violation *Violation
}

// String is the summary in one line.
func (r *Report) String() string {
	return fmt.Sprintf("explored %d states, %d transitions, %d moves deep", r.States, r.Moves, r.Depth)
}

// Violation is a broken invariant and the shortest way there.
type Violation struct {
	Why string
	// Trace is the way there. Moves after a line of dashes are of a run without faults.
	Trace []string
	// Observed is what the operator sees at the end, and Action its answer.
	Observed plan.Observed
	Action   plan.Action
}

// String is a bug report.
func (v *Violation) String() string {
	text, err := replay.Pass{Version: "of the explorer", Live: true, Decided: plan.Describe(v.Action), Observed: v.Observed}.Encode()
	if err != nil {
		panic(err) // observations are plain data
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", v.Why)
	for i, line := range v.Trace {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, line)
	}
	fmt.Fprintf(&b, "the planner's answer at the end: %s, as hack/replay explains\n{%q:%s}\n", Notation(v.Action), replay.Field, text)
	return b.String()
}

// node is how a state was reached.
type node struct {
	parent int
	move   Move
}

// explorer is a breadth-first search.
type explorer struct {
	scenario *Scenario
	seen     map[uint64]struct{}
	nodes    []node
	report   Report
	fair     []*fairRuns
}

// Explore visits every state that can be reached and checks it. It stops at the first violation.
func Explore(s Scenario) *Report {
	e := &explorer{scenario: &s, seen: map[uint64]struct{}{}}
	for _, order := range []policy{surroundingsFirst, operatorFirst} {
		if s.SafetyOnly {
			break
		}
		e.fair = append(e.fair, &fairRuns{order: order, good: map[uint64]bool{}})
	}
	start := s.start()
	level := e.visit(nil, start, start.Key(), -1, Move{})
	for len(level) > 0 && e.report.Violation == nil {
		var next []state
		for i, at := range level {
			level[i].world = nil // for the collector: nobody comes back to it
			if next = e.expand(next, at); e.report.Violation != nil {
				break
			}
		}
		level = next
		e.report.Depth++
		if large := s.Limit > 0 && e.report.States > s.Limit; large && len(level) > 0 && e.report.Violation == nil {
			e.fail(fmt.Sprintf("more than %d states", s.Limit), level[0].node, nil, level[0].world)
		}
	}
	return &e.report
}

func (s *Scenario) start() *World {
	w := New(&s.Config, s.Spec)
	if s.Running || s.Retained {
		w.Settle()
	}
	if s.Retained {
		w.retain(s.Linger)
	}
	if s.Claims {
		w.addClaims()
	}
	if s.Copies {
		w.addCopy()
	}
	w.Status.RanBefore = s.RanBefore
	w.Edits = s.Edits
	for _, kind := range s.Before {
		w.Do(w.possible(nil, kind)[0])
	}
	w.Faults = s.Faults
	return w
}

// state is a world to go on from, its node and its key.
type state struct {
	world *World
	node  int
	key   uint64
}

// visit adds the world, which has that key, to the level unless it was seen before.
func (e *explorer) visit(level []state, w *World, key uint64, parent int, m Move) []state {
	if _, met := e.seen[key]; met {
		return level
	}
	e.seen[key] = struct{}{}
	e.nodes = append(e.nodes, node{parent, m})
	e.report.States++
	at := state{w, len(e.nodes) - 1, key}
	switch {
	case w.Broken != "":
		e.fail(w.Broken, at.node, nil, w)
		return level
	case key == e.scenario.Stop:
		e.fail("this is the state", at.node, nil, w)
		return level
	}
	return append(level, at)
}

// expand checks where the state leads in the end, and visits those that come next. The operator takes its turn but once:
// that is most of the work.
func (e *explorer) expand(level []state, at state) []state {
	t := at.world.turn(at.key)
	if t != nil {
		e.record(at, t.after)
	}
	for _, f := range e.fair {
		if why, moves, end := f.check(at.world, t); why != "" {
			e.fail(why, at.node, moves, end)
			return level
		}
	}
	for _, m := range at.world.moves(e.scenario, t) {
		var next *World
		var key uint64
		if m.Kind == passes {
			next, key = t.after, t.key
		} else {
			next = at.world.Clone()
			next.Do(m)
			key = next.Key()
		}
		if m.Kind == passReadsOn {
			e.record(at, next)
		}
		e.report.Moves++
		if level = e.visit(level, next, key, at.node, m); e.report.Violation != nil {
			return level
		}
	}
	return level
}

// record tells what the operator has decided in a state.
func (e *explorer) record(at state, next *World) {
	if e.scenario.Record != nil {
		e.scenario.Record(at.key, next.Decided)
	}
}

func (e *explorer) fail(why string, at int, run []Move, end *World) {
	v := &Violation{Why: why, Observed: end.Observe(&end.Kube)}
	v.Action = end.cfg.Next(v.Observed)
	var way []Move
	for ; e.nodes[at].parent >= 0; at = e.nodes[at].parent {
		way = append(way, e.nodes[at].move)
	}
	slices.Reverse(way)
	w := e.scenario.start()
	v.Trace = w.tell(way)
	if len(run) > 0 {
		v.Trace = append(v.Trace, "--------")
		w.Faults, w.Edits = 0, nil
		v.Trace = append(v.Trace, w.tell(run)...)
	}
	e.report.Violation = v
}

// tell makes the moves and says what they were.
func (w *World) tell(moves []Move) []string {
	var trace []string
	for _, m := range moves {
		line := m.String()
		switch {
		case m.Kind == passes || m.Kind == passHeld:
			a, _ := w.Decide()
			line += ": " + Notation(a)
		case m.Kind == passReadsOn:
			line += ": " + Notation(w.cfg.Next(w.Observe(w.Read)))
		case m.Kind == passGoesOn:
			line += fmt.Sprintf(": %d of %s", w.Pending.Step+1, w.Pending.key)
		case m.Kind == userEdits:
			line += fmt.Sprintf(" to %+v", w.Edits[0])
		}
		w.Do(m)
		trace = append(trace, line)
	}
	return trace
}
