package metrics

import (
	"math"
	"time"
)

const (
	// trendStep is the time between two samples that are kept, and trendSteps how many are: two hours, in which what is compacted every hour
	// was compacted twice.
	trendStep  = 5 * time.Minute
	trendSteps = 24
	// trendLeast is the least time over which a growth means anything.
	trendLeast = 10 * time.Minute
)

// trend is how the data of the fullest member of a cluster has grown.
type trend struct {
	kept  [trendSteps]sample
	count int
	// next is where the next sample is kept, over the oldest one.
	next   int
	latest sample
	quota  int64
}

// sample is how many bytes were in use at a time, in Unix's seconds.
type sample struct{ at, bytes int64 }

// note adds what was observed. A clock that was set back begins anew.
func (t *trend) note(now time.Time, d Database) {
	s := sample{at: now.Unix(), bytes: d.InUse}
	if s.at < t.latest.at {
		*t = trend{}
	}
	t.latest, t.quota = s, d.Quota
	last := t.kept[(t.next+trendSteps-1)%trendSteps]
	if t.count > 0 && s.at-last.at < int64(trendStep/time.Second) {
		return
	}
	t.kept[t.next] = s
	t.next, t.count = (t.next+1)%trendSteps, min(t.count+1, trendSteps)
}

// until is how many seconds from the last observation it would take to reach the quota, +Inf if never.
func (t *trend) until() float64 {
	left := float64(t.quota - t.latest.bytes)
	if left <= 0 {
		return 0
	}
	if slope := t.slope(); slope > 0 {
		return left / slope
	}
	return math.Inf(1)
}

// slope is the growth in bytes a second, 0 if too little is known: from the least of the first half of the time to the least of the second
// one. Compaction frees space in steps, so what lies between two of them says little.
func (t *trend) slope() float64 {
	oldest := t.latest.at
	for _, s := range t.kept[:t.count] {
		oldest = min(oldest, s.at)
	}
	half := (t.latest.at - oldest) / 2
	if half < int64(trendLeast/time.Second)/2 {
		return 0
	}
	before, after := int64(math.MaxInt64), t.latest.bytes
	for _, s := range t.kept[:t.count] {
		if s.at < oldest+half {
			before = min(before, s.bytes)
		} else {
			after = min(after, s.bytes)
		}
	}
	return float64(after-before) / float64(half)
}
