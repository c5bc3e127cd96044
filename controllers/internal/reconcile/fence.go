package reconcile

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// A process that was suspended for a while, or whose node was, does not know that another one may act by now: until it renews its
// Lease again it continues where it was. Others leave the Lease alone for leadership.Term after the last renewal.
const (
	// startWithin is how old a view may be when an action on it starts: asking members that hang takes seconds, too.
	startWithin = 6 * time.Second
	// finishWithin is how old a view may be at the last effect of an action, and at the status write that records it.
	finishWithin = 9 * time.Second
)

// Fence limits when a pass may change anything.
type Fence struct {
	// Clock is the process's own.
	Clock clock.PassiveClock
	// Begun is when the pass began to read what it decides on.
	Begun time.Time
	// Lease returns for how long no other process of this installation acts.
	Lease interface{ Left() time.Duration }
}

// left is for how long the pass may still have effects, 0 or less if it must not.
func (f Fence) left() time.Duration { return min(finishWithin-f.Clock.Since(f.Begun), f.Lease.Left()) }

// Bounds returns for how long the pass may still have effects. It is nil if the pass changes nothing: its status write, a record
// of what was observed, is as good later, as long as the object has not been written meanwhile.
func (f Fence) Bounds(pass interface{ Mutates() bool }) func() time.Duration {
	if !pass.Mutates() {
		return nil
	}
	return f.left
}

// Pass is a pass that has decided what to do.
type Pass interface {
	// Mutates reports whether the decision changes anything.
	Mutates() bool
	// Deed names what it changes.
	Deed() Deed
}

// Act carries out what a pass has decided, and cancels it when its view gets too old, or when another process may act. A view that
// is already too old is stale. A pass that changes nothing is not limited, and the deed is nil.
func (f Fence) Act(ctx context.Context, pass Pass, carryOut func(context.Context) error) (*Deed, error) {
	if !pass.Mutates() {
		return nil, carryOut(ctx)
	}
	deed, begun := pass.Deed(), f.Clock.Now()
	err := f.act(ctx, carryOut)
	deed.took = f.Clock.Since(begun)
	if err != nil { // for a controller that goes on as if it were none
		deed.Incomplete = metrics.OutcomeFailed
	}
	return &deed, err
}

func (f Fence) act(ctx context.Context, carryOut func(context.Context) error) error {
	if f.Lease.Left() == 0 {
		return ErrNoLease
	}
	left := f.left()
	if left <= 0 || f.Clock.Since(f.Begun) > startWithin {
		return ErrStale
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	return carryOut(ctx)
}
