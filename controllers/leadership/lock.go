// Package leadership lets one process of an installation act at a time.
//
// client-go's leader election gives up when it cannot renew its Lease, and the process must exit. While the API server is away no
// other process can take over, so Lock keeps trying for RenewFor, and Left says for how long others must still leave the Lease
// alone; without that nothing is changed.
package leadership

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"github.com/etcdpilot/etcd-operator/controllers/outage"
)

const (
	// Term is how long others wait, on their own clocks, before taking a Lease that is not renewed.
	Term = 15 * time.Second
	// margin is how long before the end of a term changes stop: a request takes time to arrive.
	margin = 3 * time.Second
	// Retry is how often the Lease is renewed.
	Retry = 2 * time.Second
	// again is the pause between two attempts to renew it while the API server is away: nothing is changed until it is renewed.
	again = Retry / 4
	// RenewFor is how long renewing is retried. After that the process exits, and the next one waits for the API server as well.
	RenewFor = 7 * 24 * time.Hour
)

// Lock is the Lease as client-go's leader election uses it. It is safe for concurrent use.
type Lock struct {
	resourcelock.Interface
	clock clock.PassiveClock

	mu sync.Mutex
	// renewed is when the last request that renewed the Lease began, zero before the first.
	renewed time.Time
	// taken is closed once another process (who) holds the Lease that this one held.
	taken chan struct{}
	who   string
}

// NewLock returns a Lock on a Lease that nothing else in this process writes.
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
	if record.HolderIdentity != l.Identity() { // it is released: the term ends before others can know
		l.renew(time.Time{})
		return write(ctx, record)
	}
	record.LeaseDurationSeconds = int(Term / time.Second)
	for {
		begun := l.clock.Now()
		err := write(ctx, record)
		if err == nil {
			l.renew(begun)
			return nil
		}
		if !outage.Is(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(again):
		}
	}
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
