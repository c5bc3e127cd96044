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
	// in five minutes.
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
	// Every is how far apart samples are. Where they are closer to each other, for tests, all times here are shorter by as much.
	Every = 5 * time.Minute
	// Day is for how long a habit is made of them.
	Day = 24 * time.Hour
	// Missed is how many times as far apart as usual two samples in a row may be. If it is longer, nobody has looked at what is in between.
	Missed = 3
	// samples are those of a day.
	samples = int(Day / Every)

	// together are as many samples as one point of a habit is the median of, and points how many of these are a day. Fewer points are less
	// memory: 96 bytes of a member's signal.
	together = 6
	points   = samples / together
	// known is how many points a signal has at least to be compared with: half a day. Where members were restarted all the time, a day has
	// fewer.
	known = points / 2
	// lasting is how many samples in a row deviate before that is told, and do not before it is over: a quarter of an hour at least.
	lasting = 3
	// apart is by how many times the median absolute deviation a sample deviates at least, and times how many medians it is.
	apart, times = 6, 2
)

// Unseen reports whether nothing is known of now, if the last sample is that old: more than an hour, where samples are as far apart as usual.
func Unseen(old, every time.Duration) bool { return old > every*(time.Hour/Every) }

// floors are below what a signal is never unusual: a member that is quick may be ten times as slow and still quick.
var floors = Values{
	Flush: 0.010, RoundTrip: 0.010, Apply: 0.010,
	Growth:    16 << 10, // bytes per second: 1.3 GiB a day
	Elections: 1.5,      // one election has a cause of its own, and is over; a sample may take a little less than five minutes
}

// Habit is what one member is like. The zero value knows nothing.
type Habit struct {
	// begun is when the first sample was noted, and noted when the last one was.
	begun, noted time.Time
	day          day
	signal       [Signals]course
}

// course is how one signal goes.
type course struct {
	// run is how many samples in a row were not like what is told: unusual, if nothing is told.
	run  uint8
	told bool
	// value is what it was when that was told first, and usual what it was before that: they do not change meanwhile.
	value, usual float32
}

// Deviation is a signal that is unusual.
type Deviation struct {
	Signal Signal
	// Value is what it was when it was found, and Usual the median of the day before; in the signal's unit.
	Value, Usual float64
}

// Note adds a sample. Those are to be left out that say nothing of what the member is like by itself, such as those of a restart. Every is how far
// apart samples are: Every, if this is no test.
func (h *Habit) Note(v Values, now time.Time, every time.Duration) {
	if !h.day.goesOn(now, every) { // of the last day nothing is known
		*h = Habit{begun: now}
		h.day.begins(now, every)
	}
	if now.Sub(h.noted) > Missed*every {
		for i := range h.signal {
			h.signal[i].run = 0
		}
	}
	learned := h.Learned(now, every)
	for i := range h.signal {
		before := h.day.of(Signal(i))
		h.signal[i].judge(Signal(i), v[i], before, learned && len(before) >= known)
	}
	h.day.add(v)
	h.noted = now
}

// Learned reports whether enough is known of the member's last day for something of it to be unusual: it is known for a day, and was sampled in
// half of that at least.
func (h *Habit) Learned(now time.Time, every time.Duration) bool {
	return !h.begun.IsZero() && now.Sub(h.begun) >= every*time.Duration(samples) && h.day.sampled() >= known
}

// Seen reports whether the member was sampled within the last hour: if not, nobody knows what it is like now.
func (h *Habit) Seen(now time.Time, every time.Duration) bool {
	return !h.begun.IsZero() && !Unseen(now.Sub(h.noted), every)
}

// Until is when the member is known for a day, zero if nothing is known.
func (h *Habit) Until(every time.Duration) time.Time {
	if h.begun.IsZero() {
		return time.Time{}
	}
	return h.begun.Add(every * time.Duration(samples))
}

// Scarce are the signals that were known in the last day, but too seldom to be compared with, in their order.
func (h *Habit) Scarce() (all []Signal) {
	for s := range Signals {
		if n := len(h.day.of(s)); n > 0 && n < known {
			all = append(all, s)
		}
	}
	return all
}

// Deviations are the signals that are unusual, in their order.
func (h *Habit) Deviations() (all []Deviation) {
	for i := range h.signal {
		if c := h.signal[i]; c.told {
			all = append(all, Deviation{Signal: Signal(i), Value: float64(c.value), Usual: float64(c.usual)})
		}
	}
	return all
}

// judge compares a sample with those before it, if there are enough of them. One that is not known is not unusual.
func (c *course) judge(s Signal, value float32, before []float32, enough bool) {
	unusual, usual := false, float32(0)
	if enough {
		unusual, usual = Unusual(s, value, before)
	}
	if unusual == c.told {
		c.run = 0
		return
	}
	if c.run++; c.run < lasting {
		return
	}
	*c = course{told: unusual, value: value, usual: usual}
}

// Unusual reports whether a sample deviates upwards from those before, by the median absolute deviation and by their median, which it returns.
// NaN never does: nothing is known then.
func Unusual(s Signal, value float32, before []float32) (unusual bool, usual float32) {
	usual, spread := spread(before)
	return value > floors[s] && value > times*usual && value > usual+apart*spread, usual
}
