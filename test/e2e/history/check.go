package history

import (
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"
)

// Verdict is what is known about a history.
type Verdict string

// Verdicts.
const (
	Linearizable    Verdict = "linearizable"
	NotLinearizable Verdict = "NOT linearizable"
	// WriteLost is the worst way not to be linearizable: at the end, a register holds what was there before a write that
	// had been acknowledged.
	WriteLost Verdict = "acknowledged write LOST"
	// TimedOut says that the checker found no answer in its time.
	TimedOut Verdict = "unknown (checker timed out)"
	// Truncated says that what was recorded is linearizable, and that not all was recorded.
	Truncated Verdict = "unknown (the history is not complete)"
)

// Bad says whether the verdict is one against etcd or whoever runs it.
func (v Verdict) Bad() bool { return v == NotLinearizable || v == WriteLost }

// Check judges a history within about the given time. The picture, an HTML file, is written only for a bad verdict.
func Check(h History, limit time.Duration, picture string) (Verdict, error) {
	operations := prepare(h.Operations)
	model := register(pieceSize)
	switch porcupine.CheckOperationsTimeout(model, operations, limit) {
	case porcupine.Illegal:
	case porcupine.Unknown:
		return TimedOut, nil
	default:
		if h.Full {
			return Truncated, nil
		}
		return Linearizable, nil
	}
	verdict := NotLinearizable
	if lost(h.Operations) {
		verdict = WriteLost
	}
	_, info := porcupine.CheckOperationsVerbose(model, operations, limit)
	if err := porcupine.VisualizePath(model, info, picture); err != nil {
		return verdict, fmt.Errorf("draw the history: %w", err)
	}
	return verdict, nil
}

// prepare leaves out what cannot matter, and says of the rest when it can have taken effect. A read without an answer
// tells nothing. A write of unknown outcome that no one has seen may just as well never have taken effect: nothing can
// have happened between it and the next write. One that someone has seen has taken effect, at the latest when the first
// who saw it had the answer. Without this the checker would have to try every unknown write at every later moment.
func prepare(history []Operation) []porcupine.Operation {
	seen := sightings(history)
	var operations []porcupine.Operation
	for _, o := range history {
		if o.Return == 0 {
			at, wasSeen := seen[value{o.Register, o.Value}]
			if o.Kind == Get || !wasSeen {
				continue
			}
			// Whoever saw a value before it was written is for the checker to find.
			o.Return, o.Swapped = max(at, o.Call), o.Kind == Swap
		}
		operations = append(operations, porcupine.Operation{
			ClientId: o.Worker, Input: o, Call: o.Call, Output: o, Return: o.Return,
		})
	}
	return operations
}

type value struct {
	register int
	value    int64
}

// sightings says by when each value that anyone saw had been seen.
func sightings(history []Operation) map[value]int64 {
	seen := map[value]int64{}
	see := func(v value, at int64) bool {
		before, known := seen[v]
		if !known || at < before {
			seen[v] = at
		}
		return !known || at < before
	}
	for _, o := range history {
		switch {
		case o.Return == 0 || o.Kind == Put:
		case o.Kind == Swap && o.Swapped:
			see(value{o.Register, o.Old}, o.Return)
		default:
			see(value{o.Register, o.Seen}, o.Return)
		}
	}
	// A swap of unknown outcome that was seen has swapped, so it has itself seen the value it expected.
	for changed := true; changed; {
		changed = false
		for _, o := range history {
			at, wasSeen := seen[value{o.Register, o.Value}]
			if o.Return == 0 && o.Kind == Swap && wasSeen && see(value{o.Register, o.Old}, at) {
				changed = true
			}
		}
	}
	return seen
}

// lost looks whether the last read of a register saw something older than a write that had been acknowledged before.
func lost(history []Operation) bool {
	last := map[int]Operation{}
	for _, o := range history {
		if o.Kind == Get && o.Return != 0 && o.Call >= last[o.Register].Call {
			last[o.Register] = o
		}
	}
	for number, read := range last {
		there := since(history, value{number, read.Seen})
		for _, o := range history {
			acknowledged := o.Return != 0 && (o.Kind == Put || o.Kind == Swap && o.Swapped)
			if o.Register == number && acknowledged && o.Call > there && o.Return < read.Call {
				return true
			}
		}
	}
	return false
}

// since says by when a value had been written: from the beginning for zero, and no one knows for a write without an
// answer.
func since(history []Operation, v value) int64 {
	if v.value == 0 {
		return 0
	}
	for _, o := range history {
		if o.Register == v.register && o.Kind != Get && o.Value == v.value && o.Return != 0 {
			return o.Return
		}
	}
	return math.MaxInt64
}

// register is what one copy of the data would do. Each register is checked in pieces of that many operations or some more.
func register(piece int) porcupine.Model {
	return porcupine.Model{
		Partition: func(all []porcupine.Operation) (parts [][]porcupine.Operation) {
			for _, operations := range byRegister(all) {
				parts = append(parts, pieces(operations, piece)...)
			}
			return parts
		},
		Init:              func() any { return int64(0) },
		Step:              func(state, input, _ any) (bool, any) { return step(state, input.(Operation)) },
		DescribeOperation: func(input, _ any) string { return input.(Operation).String() },
	}
}

// step says whether an operation can have been answered so while the register held that, and what it holds then.
func step(state any, o Operation) (bool, any) {
	switch {
	case o.Kind == Put:
		return true, o.Value
	case o.Kind == Get:
		return state == o.Seen, state
	case o.Swapped:
		return state == o.Old, o.Value
	default:
		return state == o.Seen && o.Seen != o.Old, state
	}
}

// String is the operation as the picture shows it.
func (o Operation) String() string {
	switch {
	case o.Kind == Put:
		return fmt.Sprintf("put %d", o.Value)
	case o.Kind == Get:
		return fmt.Sprintf("get: %d", o.Seen)
	case o.Swapped:
		return fmt.Sprintf("swap %d for %d", o.Old, o.Value)
	default:
		return fmt.Sprintf("swap %d for %d: holds %d", o.Old, o.Value, o.Seen)
	}
}
