// Package leadership lets one process of an installation act at a time, and lets it go on after an outage of the API server in
// which no other has taken its place.
//
// Leader election of client-go gives up when it could not renew its Lease for a while, and the process has to exit: it cannot say
// any more that no other one acts. But when the API server is away, nobody acts. So the Lock has leader election try for as long
// as an outage may take, and tells for how long the Lease keeps others away: without that nothing is changed. Others wait for what
// the Lease says, as ever.
package leadership

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

const (
	// Term is for how long others let a Lease be that is not renewed, by their own clocks, from when they see it renewed.
	Term = 15 * time.Second
	// margin is what is left of a term when nothing is changed any more: a request takes time to arrive.
	margin = 3 * time.Second
	// Retry is the pause between two tries to renew the Lease.
	Retry = 2 * time.Second
	// Patience is for how long they go on. A process that ends then, and the next one, wait for the API server as well.
	Patience = 7 * 24 * time.Hour
)

// Lock is the Lease as leader election takes it. It is safe for concurrent use.
type Lock struct {
	resourcelock.Interface
	clock clock.PassiveClock

	mu sync.Mutex
	// renewed is when the last request began that has renewed the Lease, zero before the first.
	renewed time.Time
	// taken is closed once another process holds the Lease that this one held, who is that.
	taken chan struct{}
	who   string
}

// NewLock makes one of a Lease that nothing else in this process writes.
func NewLock(lease resourcelock.Interface, clock clock.PassiveClock) *Lock {
	return &Lock{Interface: lease, clock: clock, taken: make(chan struct{})}
}

// Create makes the Lease.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update renews the Lease, or releases it.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

func (l *Lock) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord,
	write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	begun := l.clock.Now()
	holds := record.HolderIdentity == l.Identity()
	if holds {
		record.LeaseDurationSeconds = int(Term / time.Second)
	} else { // it is released: the term ends before others can know
		l.renew(time.Time{})
	}
	if err := write(ctx, record); err != nil {
		return err
	}
	if holds {
		l.renew(begun)
	}
	return nil
}

func (l *Lock) renew(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = at
}

// Get reads the Lease. Leader election does so after a renewal that has failed.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.lose(record.HolderIdentity)
	}
	return record, raw, err
}

func (l *Lock) lose(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.renewed.IsZero() { // it never held the Lease, or has released it
		return
	}
	l.renewed, l.who = time.Time{}, to
	close(l.taken)
}

// Left is for how long from now on no other process acts, 0 if one may do so already.
func (l *Lock) Left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.renewed.IsZero() {
		return 0
	}
	return max(0, Term-margin-l.clock.Since(l.renewed))
}

// Keep returns an error once another process holds the Lease that this one held, and nil when the context ends.
func (l *Lock) Keep(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-l.taken:
		return fmt.Errorf("the Lease was not renewed for %s, and %q has taken it", Term, l.who)
	}
}
