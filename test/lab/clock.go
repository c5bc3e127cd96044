package lab

import (
	"context"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/clock"
)

// JumpClock moves this machine's clock, the only one that all nodes have, at once: forward, or back for a negative
// time. Jumps add up. RestoreClock and Down undo them.
func (f Faults) JumpClock(_ context.Context, by time.Duration) error {
	return clock.Jump(f.lab.state.Clock(), by)
}

// RestoreClock puts this machine's clock to what it would show without JumpClock, by the time since the boot.
func (f Faults) RestoreClock(context.Context) error { return clock.Restore(f.lab.state.Clock()) }
