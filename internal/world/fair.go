package world

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// fairLimit is how many moves a fair run may take: the longest that was seen takes about a third of it.
const fairLimit = 400

// policy is an order in which a fair run lets things happen; it depends on nothing but the state.
type policy bool

// What a fair run prefers while both can go on.
const (
	surroundingsFirst policy = false
	operatorFirst     policy = true
)

// fairMove is the next move of a run without any further faults from the state with that key, false at its end. What a pass of the operator
// would do may be known already.
func (w *World) fairMove(order policy, key uint64, known *turn) (Move, *turn, bool) {
	switch {
	case w.Pending != nil:
		return Move{passGoesOn, ""}, nil, true
	case w.Read != nil:
		return Move{passReadsOn, ""}, nil, true
	}
	bound := w.bound()
	if order == surroundingsFirst && len(bound) > 0 {
		return bound[0], nil, true
	}
	if known == nil {
		known = w.turn(key)
	}
	if known.changes {
		return Move{passes, ""}, known, true
	}
	if len(bound) > 0 {
		return bound[0], nil, true
	}
	if last := w.inTheEnd(); len(last) > 0 {
		return last[0], nil, true
	}
	return Move{}, nil, false
}

// turn is what a pass of the operator makes of a world, and the key of that.
type turn struct {
	after *World
	key   uint64
	// changes is false if the pass would change nothing.
	changes bool
}

// turn lets the operator act on a copy of the world, which has that key. It is nil while a pass is held up.
func (w *World) turn(key uint64) *turn {
	if !w.undisturbed() {
		return nil
	}
	after := w.Clone()
	after.Do(Move{passes, ""})
	next := after.Key()
	return &turn{after, next, next != key}
}

// fairly makes the move in a run without any further faults, and returns the world after it.
func (w *World) fairly(m Move, known *turn) *World {
	if known == nil {
		w.Do(m)
		return w
	}
	after := known.after.Clone()
	after.Faults, after.Edits = 0, nil
	return after
}

// fairRuns remembers the states from which a fair run ends well.
type fairRuns struct {
	order policy
	good  map[uint64]bool // by calm key: whether the spec was reached at the end
}

// explain repeats a check whose run ended in a state that was known, for the whole run.
func (f *fairRuns) explain(w *World) (string, []Move, *World) {
	return (&fairRuns{order: f.order, good: map[uint64]bool{}}).check(w, nil)
}

// check is L1 and L2: once faults stop, the run from w reaches the spec if that is possible, and otherwise ends with the
// operator saying what has to be done by another owner. It returns what is wrong, and the moves that lead there. What the
// operator's next pass makes of w may be known already.
func (f *fairRuns) check(w *World, known *turn) (string, []Move, *World) {
	recoverable := w.recoverable()
	run := w.Clone()
	run.Faults, run.Edits = 0, nil
	var moves []Move
	var seen []uint64
	for {
		key := run.Key()
		if slices.Contains(seen, key) && run.spoilt() {
			if why := run.stopped(recoverable); why != "" {
				return why, moves, run
			}
			for _, key := range seen {
				f.good[key] = true
			}
			return "", nil, nil
		}
		if slices.Contains(seen, key) {
			return "L1: the operator never comes to rest: this state was there before", moves, run
		}
		reached, met := f.good[key]
		if !met {
			seen = append(seen, key)
			if m, next, more := run.fairMove(f.order, key, known); more && len(moves) < fairLimit {
				run, known = run.fairly(m, next), nil
				moves = append(moves, m)
				if run.Broken != "" {
					return run.Broken, moves, run
				}
				continue
			}
			if len(moves) == fairLimit {
				return "L1: the operator does not come to rest in time", moves, run
			}
			reached = run.reached()
			if why := run.ending(reached, recoverable); why != "" {
				return why, moves, run
			}
			reached = reached || run.spoilt() || run.heldUp()
		}
		if recoverable && !reached {
			return f.explain(w)
		}
		for _, key := range seen {
			f.good[key] = reached
		}
		return "", nil, nil
	}
}

// ending judges a world in which nothing can happen any more.
func (w *World) ending(reached, recoverable bool) string {
	if w.spoilt() {
		return w.stopped(recoverable)
	}
	a, _ := w.Decide()
	if w.excused(a, reached) {
		return ""
	}
	if w.heldUp() {
		return w.besides(a, recoverable)
	}
	switch act := a.(type) {
	case plan.Idle:
		if reached {
			return ""
		}
		return "L1: the operator is idle (" + act.Reason + ") but the spec is not reached"
	case plan.Blocked:
		if recoverable {
			return "L1: the operator is blocked (" + act.Reason + ") although a quorum of data survived"
		}
		return ""
	case plan.Wait:
		if !recoverable && act.Reason == v1beta2.ReasonQuorumLost {
			return "" // who is silent may be known to be gone by others only
		}
		if !recoverable && w.outOfReach() && act.Reason == v1beta2.ReasonPodCannotStart {
			return ""
		}
		if w.cfg.Stunted && reached && act.Reason == v1beta2.ReasonWaitingForVolume {
			return ""
		}
		return "L2: the operator waits (" + act.Reason + ") for what will never come"
	default:
		return "L1: the operator tries in vain what etcd or Kubernetes refuse: " + Notation(a)
	}
}

// Settle lets the world run without faults until it comes to rest, for a scenario to begin there.
func (w *World) Settle() {
	for range fairLimit {
		m, _, more := w.fairMove(surroundingsFirst, w.Key(), nil)
		if !more {
			return
		}
		w.Do(m)
	}
}
