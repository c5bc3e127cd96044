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

// fairMove is the next move of a run without any further faults, false at its end.
func (w *World) fairMove(order policy) (Move, bool) {
	switch {
	case w.Pending != nil:
		return Move{passGoesOn, ""}, true
	case w.Read != nil:
		return Move{passReadsOn, ""}, true
	}
	bound := w.bound()
	if order == surroundingsFirst && len(bound) > 0 {
		return bound[0], true
	}
	if w.passChanges() {
		return Move{passes, ""}, true
	}
	if len(bound) > 0 {
		return bound[0], true
	}
	if last := w.inTheEnd(); len(last) > 0 {
		return last[0], true
	}
	return Move{}, false
}

// passChanges tells whether a pass of the operator would change anything.
func (w *World) passChanges() bool {
	next := w.Clone()
	next.Do(Move{passes, ""})
	return next.Key() != w.Key()
}

// fairRuns remembers the states from which a fair run ends well.
type fairRuns struct {
	order policy
	good  map[uint64]bool // by calm key: whether the spec was reached at the end
}

// explain repeats a check whose run ended in a state that was known, for the whole run.
func (f *fairRuns) explain(w *World) (string, []Move, *World) {
	return (&fairRuns{order: f.order, good: map[uint64]bool{}}).check(w)
}

// check is L1 and L2: once faults stop, the run from w reaches the spec if that is possible, and otherwise ends with the
// operator saying what has to be done by somebody else. It returns what is wrong, and the moves that lead there.
func (f *fairRuns) check(w *World) (string, []Move, *World) {
	hopeful := w.hopeful()
	run := w.Clone()
	run.Faults, run.Edits = 0, nil
	var moves []Move
	var seen []uint64
	for {
		key := run.calm()
		if slices.Contains(seen, key) && run.spoilt() {
			if why := run.stopped(hopeful); why != "" {
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
		reached, known := f.good[key]
		if !known {
			seen = append(seen, key)
			if m, more := run.fairMove(f.order); more && len(moves) < fairLimit {
				run.Do(m)
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
			if why := run.ending(reached, hopeful); why != "" {
				return why, moves, run
			}
			reached = reached || run.spoilt()
		}
		if hopeful && !reached {
			return f.explain(w)
		}
		for _, key := range seen {
			f.good[key] = reached
		}
		return "", nil, nil
	}
}

// ending judges a world in which nothing can happen any more.
func (w *World) ending(reached, hopeful bool) string {
	if w.spoilt() {
		return w.stopped(hopeful)
	}
	a, _ := w.Decide()
	switch act := a.(type) {
	case plan.Idle:
		if reached {
			return ""
		}
		return "L1: the operator is idle (" + act.Reason + ") but the spec is not reached"
	case plan.Blocked:
		if hopeful {
			return "L1: the operator is blocked (" + act.Reason + ") although a quorum of data survived"
		}
		return ""
	case plan.Wait:
		if !hopeful && act.Reason == v1beta2.ReasonQuorumLost {
			return "" // who is silent may be known to be gone by others only
		}
		return "L2: the operator waits (" + act.Reason + ") for what will never come"
	default:
		return "L1: the operator tries in vain what etcd or Kubernetes refuse: " + keyOf(a)
	}
}

// Settle lets the world run without faults until it comes to rest, for a scenario to begin there.
func (w *World) Settle() {
	for range fairLimit {
		m, more := w.fairMove(surroundingsFirst)
		if !more {
			return
		}
		w.Do(m)
	}
}
