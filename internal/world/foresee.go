package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Foreseen is what the operator does from a state on, if nothing fails any more.
type Foreseen struct {
	// Steps change something, in this order.
	Steps []Step
	// End is what it answers when nothing more happens; nil if it had not come to rest after as many moves as a fair run may take.
	End plan.Action
	// After is what the model lets happen before that, as for a step, but for the passing of time.
	After []string
	// Unknown is why nobody knows what follows from the last step, empty if it is foreseen.
	Unknown string
}

// Step is one action.
type Step struct {
	Action plan.Action
	// After is what the model lets happen first, beside what Kubernetes and etcd do sooner or later: deadlines pass, somebody clears an
	// alarm, a pod finds a node. Nobody knows whether it does.
	After []string
}

// Foresee makes a fair run of a copy of the world: pods come up, members catch up, images are pulled, and nobody asks for anything else.
func (w *World) Foresee() Foreseen {
	var out Foreseen
	run := w.Clone()
	run.Faults, run.Edits = 0, nil
	var seen []uint64
	var after, late []string
	if w.cfg.first != nil {
		out.Steps = append(out.Steps, Step{Action: w.cfg.first})
	}
	for range fairLimit {
		key := run.Key()
		if slices.Contains(seen, key) {
			return out
		}
		seen = append(seen, key)
		m, known, more := run.fairMove(surroundingsFirst, key, nil)
		if !more {
			out.End, _ = run.Decide()
			out.After = late
			return out
		}
		switch {
		case m.Kind > lastBound && m.Kind != passes:
			if after = append(after, m.String()); m.Kind != timePasses {
				late = append(late, m.String())
			}
		case m.Kind == passes && plan.Mutates(known.after.Decided):
			out.Steps = append(out.Steps, Step{Action: known.after.Decided, After: after})
			after, late = nil, nil
			if _, compacts := known.after.Decided.(plan.Compact); compacts && w.cfg.seed != nil {
				out.Unknown = "how much room a compaction makes is known once it is done"
				return out
			}
		}
		run = run.fairly(m, known)
	}
	return out
}
