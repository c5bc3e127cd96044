// Package anomaly says what is unusual of a member of etcd: what deviates upwards from what the same member was like in the last day. It is
// arithmetic on samples; it knows no clock, and nobody who asks members. What it finds is for people: no decision depends on it.
package anomaly

import (
	"math"
	"time"
)

// Signal is what is measured of a member.
type Signal int

// The signals. Durations are means over the time between two samples, in seconds.
const (
	// Flush is how long a flush of the write-ahead log takes, RoundTrip a round trip to another member, and Apply a request that is applied.
	Flush Signal = iota
	RoundTrip
	Apply
	// Growth is by how many bytes per second what is in use of the database grows, and Elections how many changes of the leader a member sees
	// in the time between two samples.
	Growth
	Elections
	// Signals is how many there are.
	Signals
)

// Values are a sample of each signal, NaN of one that is not known: where hardly anything was done, there is no mean.
type Values [Signals]float32

// Nothing is a sample of which nothing is known.
func Nothing() (v Values) {
	for i := range v {
		v[i] = float32(math.NaN())
	}
	return v
}

const (
	// Every is how far apart samples are.
	Every = 5 * time.Minute
	// Day is for how long a habit is made of them.
	Day = 24 * time.Hour

	// together are as many samples as one point of a habit is the median of, and points how many of these are a day. Fewer points are less
	// memory: 384 bytes of a member's signal.
	together = 3
	points   = int(Day / (together * Every))
	// known is how many points a habit has at least: half a day. Where members were restarted all the time, a day has fewer.
	known = points / 2
	// lasting is how many samples in a row deviate before that is told, and do not before it is over: a quarter of an hour.
	lasting = 3
	// apart is by how many times the median absolute deviation a sample deviates at least, and times how many medians it is.
	apart, times = 6, 2
)

// floors are below what a signal is never unusual: a member that is quick may be ten times as slow and still quick.
var floors = Values{
	Flush: 0.010, RoundTrip: 0.010, Apply: 0.010,
	Growth:    16 << 10, // bytes per second: 1.3 GiB a day
	Elections: 1,        // one election has a cause of its own, and is over
}

// Habit is what one member is like. The zero value knows nothing.
type Habit struct {
	// begun is when the first sample was noted.
	begun time.Time
	// latest are the samples of the point that is not complete, and n is how many of them there are.
	latest [together]Values
	n      int
	signal [Signals]course
}

// course is how one signal went.
type course struct {
	// ring has the points of the last day, as many as count says; the next one goes to at.
	ring      [points]float32
	at, count uint8
	// run is how many samples in a row were not like what is told: unusual, if nothing is told.
	run  uint8
	told bool
	// found is what it was when that was told first: it does not change meanwhile.
	found Deviation
}

// Deviation is a signal that is unusual.
type Deviation struct {
	Signal Signal
	// Value is what it was when it was found, and Usual the median of the day before; in the signal's unit.
	Value, Usual float64
}

// Note adds a sample. Those are to be left out that say nothing of what the member is like by itself, such as those of a restart.
func (h *Habit) Note(v Values, now time.Time, day time.Duration) {
	if h.begun.IsZero() {
		h.begun = now
	}
	learned := h.Learned(now, day)
	for i := range h.signal {
		h.signal[i].judge(Signal(i), v[i], learned)
	}
	h.latest[h.n] = v
	if h.n++; h.n < together {
		return
	}
	h.n = 0
	for i := range h.signal {
		all := make([]float32, 0, together)
		for _, sample := range h.latest {
			if !math.IsNaN(float64(sample[i])) {
				all = append(all, sample[i])
			}
		}
		if len(all) > 0 {
			h.signal[i].learn(median(all))
		}
	}
}

// Learned reports whether the member is known for a day, so that something of it can be unusual.
func (h *Habit) Learned(now time.Time, day time.Duration) bool {
	return !h.begun.IsZero() && now.Sub(h.begun) >= day
}

// Until is when that will be so at the earliest, zero if nothing is known.
func (h *Habit) Until(day time.Duration) time.Time {
	if h.begun.IsZero() {
		return time.Time{}
	}
	return h.begun.Add(day)
}

// Deviations are the signals that are unusual, in their order.
func (h *Habit) Deviations() (all []Deviation) {
	for i := range h.signal {
		if h.signal[i].told {
			all = append(all, h.signal[i].found)
		}
	}
	return all
}

// judge compares a sample with the day before it. One that is not known is not unusual.
func (c *course) judge(s Signal, value float32, learned bool) {
	unusual, usual := false, float32(0)
	if learned && c.count >= uint8(known) {
		unusual, usual = Unusual(s, value, c.ring[:c.count])
	}
	if unusual == c.told {
		c.run = 0
		return
	}
	if c.run++; c.run < lasting {
		return
	}
	c.run, c.told = 0, unusual
	c.found = Deviation{Signal: s, Value: float64(value), Usual: float64(usual)}
}

func (c *course) learn(point float32) {
	c.ring[c.at] = point
	c.at = (c.at + 1) % uint8(points)
	c.count = min(c.count+1, uint8(points))
}

// Unusual reports whether a sample deviates upwards from those before, by the median absolute deviation and by their median, which it returns.
// NaN never does: nothing is known then.
func Unusual(s Signal, value float32, before []float32) (unusual bool, usual float32) {
	usual, spread := spread(before)
	return value > floors[s] && value > times*usual && value > usual+apart*spread, usual
}
