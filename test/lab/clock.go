package lab

import (
	"context"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/clock"
)

// JumpClock moves this machine's clock, the only one that all nodes have, at once: forward, or back for a negative
// time. Jumps add up. RestoreClock and Down undo them.
func (l *Lab) JumpClock(_ context.Context, by time.Duration) error {
	return clock.Jump(l.state.Clock(), by)
}

// RestoreClock puts this machine's clock to what it would show without JumpClock, by the time since the boot.
func (l *Lab) RestoreClock(context.Context) error { return clock.Restore(l.state.Clock()) }
