package etcd

import "time"

// instant is a time in a third of the memory of a time.Time, of which there are dozens for each member: how long after this process has begun, by
// the clock that is never set where both are known by that.
type instant time.Duration

var processBegan = time.Now()

func instantOf(t time.Time) instant { return instant(t.Sub(processBegan)) }

func (i instant) since(earlier instant) time.Duration { return time.Duration(i - earlier) }
