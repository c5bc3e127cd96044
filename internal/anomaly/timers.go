package anomaly

import (
	"math"
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
	// sum is of the hour that is not over, which has begun then: a list, as a map takes more than its 6 entries of three members.
	sum   []along
	begun time.Time
	// about and buckets are those of each hour; the next one goes to at.
	about     [hours]float32
	buckets   [hours]uint8
	at, count uint8
}

// along are the probes of a way in one hour, as in Probes: there are 240, so that 16 bits count them.
type along struct {
	Way
	took [len(Buckets{})]uint16
	sum  float64
}

// hour is how long round trips took on the longest way: about so many seconds, and longer than so many buckets.
type hour struct {
	about   float32
	buckets uint8
}

// Note adds what was observed since the last time. An hour of which hardly anything is known, or that was not over in time because nothing was
// noted, begins the day anew: what is not known is not slow. Every is how far apart samples are: Every, if this is no test.
func (t *Trips) Note(more map[Way]Probes, now time.Time, every time.Duration) {
	long := every * (time.Hour / Every)
	if t.begun.IsZero() || now.Sub(t.begun) > long*5/4 {
		*t = Trips{begun: now}
	}
	t.add(more)
	if now.Sub(t.begun) < long {
		return
	}
	h, known := hourOf(t.sum, fewestIn(every))
	if t.sum, t.begun = nil, now; !known {
		t.at, t.count = 0, 0
		return
	}
	t.about[t.at], t.buckets[t.at] = h.about, h.buckets
	t.at = (t.at + 1) % hours
	t.count = min(t.count+1, hours)
}

// add adds to the sum of each way. The first ones are as many as there are ways, usually.
func (t *Trips) add(more map[Way]Probes) {
	if len(t.sum) == 0 {
		t.sum = make([]along, 0, len(more))
	}
	for way, p := range more {
		i := slices.IndexFunc(t.sum, func(a along) bool { return a.Way == way })
		if i < 0 {
			i, t.sum = len(t.sum), append(t.sum, along{Way: way})
		}
		t.sum[i].add(p)
	}
}

// add adds probes. Who claims more than can be counted has taken that many.
func (a *along) add(more Probes) {
	for i, n := range more.Took {
		a.took[i] = uint16(min(uint32(a.took[i])+min(n, math.MaxUint16), math.MaxUint16))
	}
	a.sum += more.Sum
}

// trip is how long a round trip took: longer than so many buckets, and about that long, by the mean; false if there were too few. A bucket is no
// measure: each is twice as wide as the one before.
func (a *along) trip(least uint16) (buckets uint8, about time.Duration, known bool) {
	last := uint8(len(a.took) - 1)
	all := a.took[last]
	if all < least {
		return 0, 0, false
	}
	for buckets < last && int(a.took[buckets]) < (int(all)+3)/4 {
		buckets++
	}
	mean := a.sum / float64(all) / perTrip
	return buckets, max(boundOf(buckets), time.Duration(mean*float64(time.Second))), true
}

// fewestIn is how many probes of an hour say anything: fewer of one that tests make shorter, because etcd's pace stays.
func fewestIn(every time.Duration) uint16 {
	return uint16(max(1, fewest*every/Every)) //nolint:gosec // no more than fewest
}

// boundOf is the upper bound of the last one of so many buckets.
func boundOf(buckets uint8) time.Duration {
	if buckets == 0 {
		return 0
	}
	return shortest << (buckets - 1)
}

// hourOf is that of the longest way, false if none is known.
func hourOf(sum []along, least uint16) (h hour, known bool) {
	for i := range sum {
		if buckets, about, ok := sum[i].trip(least); ok {
			known = true
			h.buckets, h.about = max(h.buckets, buckets), max(h.about, float32(about.Seconds()))
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
	least := boundOf(slices.Min(t.buckets[:]))
	if least < has.Heartbeat && perHeartbeat*least < has.Election {
		return Advice{}, false
	}
	trip := max(least, time.Duration(float64(median(slices.Clone(t.about[:])))*float64(time.Second)))
	heartbeat := min((trip+step-1)/step*step, longest/perHeartbeat)
	want := Timers{max(heartbeat, has.Heartbeat), max(perHeartbeat*heartbeat, has.Election)}
	return Advice{want, least}, want != has
}
