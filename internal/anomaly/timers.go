package anomaly

import (
	"math"
	"slices"
	"time"
)

// Buckets are how many round trips took up to 0.1 ms, 0.2 ms, 0.4 ms and so on, the last one all: those of
// etcd_network_peer_round_trip_time_seconds (rafthttp/metrics.go: ExponentialBuckets(0.0001, 2, 16)).
type Buckets [17]uint32

// shortest is the upper bound of the first bucket.
const shortest = 100 * time.Microsecond

const (
	// slow is how long the p99 of round trips takes for which etcd's default times are too short: half of its heartbeat interval.
	slow = 50 * time.Millisecond
	// step is what advised times are multiples of, so that advice does not change with every sample.
	step = 50 * time.Millisecond
	// perHeartbeat is by which multiple of the round trip time the election timeout is to be longer, and longest the most that etcd takes
	// (etcd's tuning guide, and maxElectionMs in embed/config.go).
	perHeartbeat, longest = 10, 50 * time.Second
	// hours are a day of them, and fewest how many round trips of an hour have a p99. A member observes one every half minute.
	hours  = 24
	fewest = 20
)

// Trips remember how long round trips took in each hour of the last day, of one cluster. The zero value knows nothing.
type Trips struct {
	sum   Buckets
	begun time.Time
	// ring has the p99 of each hour in seconds; the next one goes to at.
	ring      [hours]float32
	at, count uint8
}

// Note adds the round trips since the last time. An hour that has hardly any begins the day anew: what is not known is not slow.
func (t *Trips) Note(more Buckets, now time.Time, hour time.Duration) {
	if t.begun.IsZero() {
		t.begun = now
	}
	for i, n := range more {
		t.sum[i] += n
	}
	if now.Sub(t.begun) < hour {
		return
	}
	p99, known := quantile(t.sum, 0.99)
	if t.sum, t.begun = (Buckets{}), now; !known {
		t.at, t.count = 0, 0
		return
	}
	t.ring[t.at] = float32(p99.Seconds())
	t.at = (t.at + 1) % hours
	t.count = min(t.count+1, hours)
}

// Timers are times of etcd.
type Timers struct{ Heartbeat, Election time.Duration }

// Advice is what the times should be, by etcd's tuning guide: the heartbeat interval about as long as the longest round trips, and the election
// timeout ten times as long. It is false if those that it has are long enough, or if there was an hour of the last day in which the p99 of
// round trips was no more than 50 ms. What counts is the p99 of the usual hour: one bad hour asks for no longer times.
func (t *Trips) Advice(has Timers) (Timers, bool) {
	if t.count < hours {
		return Timers{}, false
	}
	all := slices.Clone(t.ring[:])
	if slices.Min(all) <= float32(slow.Seconds()) {
		return Timers{}, false
	}
	trip := time.Duration(float64(median(all)) * float64(time.Second))
	steps := (trip + step - 1) / step
	want := Timers{Heartbeat: steps * step}
	want.Election = min(perHeartbeat*want.Heartbeat, longest)
	want.Heartbeat = min(want.Heartbeat, longest/perHeartbeat)
	want = Timers{max(want.Heartbeat, has.Heartbeat), max(want.Election, has.Election)}
	return want, want != has
}

// quantile is that of round trips, between the bounds of a bucket as Prometheus has it; false if there are too few.
func quantile(b Buckets, q float64) (time.Duration, bool) {
	last := len(b) - 1
	all := float64(b[last])
	if all < fewest {
		return 0, false
	}
	rank, bound, lower, below := q*all, shortest, time.Duration(0), 0.0
	for i, n := range b {
		if i == last {
			return lower, true
		}
		if in := float64(n) - below; float64(n) >= rank && in > 0 {
			return lower + time.Duration(math.Round(float64(bound-lower)*(rank-below)/in)), true
		}
		below, lower, bound = float64(n), bound, 2*bound
	}
	return lower, true
}
