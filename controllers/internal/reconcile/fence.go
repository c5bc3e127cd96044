package reconcile

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// A process that was suspended for a while, or whose node was, does not know that another one may act by now: until it renews its
// Lease again it continues where it was. Leader election gives up 10 s after the last renewal, and no other process takes over
// before that.
const (
	// startWithin is how old a view may be when an action on it starts: asking members that hang takes seconds, too.
	startWithin = 6 * time.Second
	// finishWithin is how old a view may be at the last effect of an action, and at the status write that records it.
	finishWithin = 9 * time.Second
)

// Aging returns how old the view of a pass is. It is nil if the pass changes nothing: its status write, a record of what was
// observed, is as good later, as long as the object has not been written meanwhile.
func Aging(pass interface{ Mutates() bool }, clock clock.PassiveClock, begun time.Time) func() time.Duration {
	if !pass.Mutates() {
		return nil
	}
	return func() time.Duration { return clock.Since(begun) }
}

// Act carries out what a pass has decided on a view of that age, by the monotonic clock, and cancels it when the view gets too old.
// A view that is already too old is stale. A pass that changes nothing is not limited.
func Act(ctx context.Context, pass interface{ Mutates() bool }, age time.Duration, carryOut func(context.Context) error) error {
	if !pass.Mutates() {
		return carryOut(ctx)
	}
	if age > startWithin {
		return ErrStale
	}
	ctx, cancel := context.WithTimeout(ctx, finishWithin-age)
	defer cancel()
	return carryOut(ctx)
}
