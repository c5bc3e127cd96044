package reconcile

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// A process that was stopped for a while, or whose node was, does not know that another one may act by now: until it asks for
// its Lease again it goes on where it was. Leader election gives up 10 s after the last answer, and nobody takes over before that.
const (
	// youth is how old a view may be when something is done on it: to ask members that hang takes seconds, too.
	youth = 6 * time.Second
	// span is how long after the view was begun the last effect may come, and the write to status that says so.
	span = 9 * time.Second
)

// Aging tells how old the view of a pass is. It is nil if the pass changes nothing: what its write to status says of what was seen
// is worth the same later, as long as nobody has written to the object.
func Aging(pass interface{ Mutates() bool }, clock clock.PassiveClock, begun time.Time) func() time.Duration {
	if !pass.Mutates() {
		return nil
	}
	return func() time.Duration { return clock.Since(begun) }
}

// Act carries out what a pass has decided on a view of that age, by the monotonic clock, and cuts it off when that gets too old.
// A view that is too old already is stale. What changes nothing has no view to get old.
func Act(ctx context.Context, pass interface{ Mutates() bool }, age time.Duration, carryOut func(context.Context) error) error {
	if !pass.Mutates() {
		return carryOut(ctx)
	}
	if age > youth {
		return ErrStale
	}
	ctx, cancel := context.WithTimeout(ctx, span-age)
	defer cancel()
	return carryOut(ctx)
}
