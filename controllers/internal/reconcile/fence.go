package reconcile

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// A process that was stopped for a while, or whose node was, does not know that another one may act by now: until it asks for
// its Lease again it goes on where it was. Others let the Lease be for leadership.Term from the last renewal on.
const (
	// youth is how old a view may be when something is done on it: to ask members that hang takes seconds, too.
	youth = 6 * time.Second
	// span is how long after the view was begun the last effect may come, and the write to status that says so.
	span = 9 * time.Second
)

// Fence bounds when a pass may change anything.
type Fence struct {
	// Clock is the process's own, which goes on with the machine.
	Clock clock.PassiveClock
	// Begun is when the pass began to read what it decides on.
	Begun time.Time
	// Lease tells for how long no other process of this installation acts.
	Lease interface{ Left() time.Duration }
}

// left is how long effects may come from now on, 0 or less if none may.
func (f Fence) left() time.Duration { return min(span-f.Clock.Since(f.Begun), f.Lease.Left()) }

// Bounds is the left of a pass that changes something. It is nil for one that changes nothing: what its write to status says of
// what was seen is worth the same later, as long as nobody has written to the object.
func (f Fence) Bounds(pass interface{ Mutates() bool }) func() time.Duration {
	if !pass.Mutates() {
		return nil
	}
	return f.left
}

// Act carries out what a pass has decided, and cuts it off when its view gets too old, or another process may act. A view that is
// too old already is stale. What changes nothing has no view to get old.
func (f Fence) Act(ctx context.Context, pass interface{ Mutates() bool }, carryOut func(context.Context) error) error {
	if !pass.Mutates() {
		return carryOut(ctx)
	}
	left := f.left()
	if left <= 0 || f.Clock.Since(f.Begun) > youth {
		return ErrStale
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	return carryOut(ctx)
}
