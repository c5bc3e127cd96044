package anomaly

import (
	"slices"
	"time"
)

const (
	// step is what advised times are multiples of, so that advice does not change with every sample.
	step = 50 * time.Millisecond
	// perHeartbeat is by which multiple of the round trip time the election timeout is to be longer, and longest the most that etcd takes
	// (etcd's tuning guide, and maxElectionMs in embed/config.go).
	perHeartbeat, longest = 10, 50 * time.Second
	// hours are a day of them.
	hours = 24
)

// Trips remember how long round trips took in each hour of the last day, of one cluster. The zero value knows nothing.
type Trips struct {
	sum   map[Way]Probes
	begun time.Time
	// ring has each hour; the next one goes to at.
	ring      [hours]hour
	at, count uint8
}

// hour is how long round trips took on the longest way: longer than that, and about that long.
type hour struct{ longer, about time.Duration }

// Note adds what was observed since the last time. An hour of which hardly anything is known, or that was not over in time because nothing was
// noted, begins the day anew: what is not known is not slow. Every is how far apart samples are: Every, if this is no test.
func (t *Trips) Note(more map[Way]Probes, now time.Time, every time.Duration) {
	long := every * (time.Hour / Every)
	if t.begun.IsZero() || now.Sub(t.begun) > long*5/4 {
		*t = Trips{begun: now, sum: map[Way]Probes{}}
	}
	for way, p := range more {
		t.sum[way] = t.sum[way].plus(p)
	}
	if now.Sub(t.begun) < long {
		return
	}
	h, known := hourOf(t.sum)
	if t.sum, t.begun = map[Way]Probes{}, now; !known {
		t.at, t.count = 0, 0
		return
	}
	t.ring[t.at] = h
	t.at = (t.at + 1) % hours
	t.count = min(t.count+1, hours)
}

// hourOf is that of the longest way, false if none is known.
func hourOf(sum map[Way]Probes) (h hour, known bool) {
	for _, p := range sum {
		if longer, about, ok := p.trip(); ok {
			known = true
			h.longer, h.about = max(h.longer, longer), max(h.about, about)
		}
	}
	return h, known
}

// Timers are times of etcd.
type Timers struct{ Heartbeat, Election time.Duration }

// Advice is what etcd's times should be.
type Advice struct {
	Timers
	// Longer is what round trips took more than on the longest way, in each hour of the last day.
	Longer time.Duration
}

// Advice is what the times should be, by etcd's tuning guide: the heartbeat interval about as long as the longest round trips, and the election
// timeout ten times as long. It is false unless in each hour of the last day round trips certainly took longer than the heartbeat interval that
// etcd has, or than a tenth of its election timeout. What they took in the usual hour is what is advised: one bad hour asks for no longer times.
func (t *Trips) Advice(has Timers) (Advice, bool) {
	if t.count < hours {
		return Advice{}, false
	}
	longer, about := make([]time.Duration, hours), make([]float32, hours)
	for i, h := range t.ring {
		longer[i], about[i] = h.longer, float32(h.about.Seconds())
	}
	least := slices.Min(longer)
	if least < has.Heartbeat && perHeartbeat*least < has.Election {
		return Advice{}, false
	}
	trip := max(least, time.Duration(float64(median(about))*float64(time.Second)))
	heartbeat := min((trip+step-1)/step*step, longest/perHeartbeat)
	want := Timers{max(heartbeat, has.Heartbeat), max(perHeartbeat*heartbeat, has.Election)}
	return Advice{want, least}, want != has
}
