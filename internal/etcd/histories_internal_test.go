package etcd

import (
	"math/bits"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const every = 5 * time.Minute

// said are figures of three members after so many flushes, of which those of the third take a second each.
func said(flushes float64) map[string]*figures {
	const quick = 0.001
	return map[string]*figures{
		"a": {flushes: durations{flushes * quick, flushes}}, "b": {flushes: durations{flushes * quick, flushes}},
		"c": {flushes: durations{flushes, flushes}},
	}
}

// TestHistories counts samples of disks that were slow, and begins anew where something is not known.
func TestHistories(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	slowFor := func(n int) *histories {
		h := &histories{}
		for i := range n + 1 {
			h.note(said(float64(100*i)), start.Add(time.Duration(i)*every), every)
		}
		return h
	}
	last := func(n int) time.Time { return start.Add(time.Duration(n) * every) }
	slow := func(h *histories, uid string) (n, slow int) {
		d := h.of(uid)
		if d == nil {
			return 0, 0
		}
		return len(d.samples.at), bits.OnesCount16(d.samples.slow & d.samples.alone)
	}
	for title, c := range map[string]struct {
		h       *histories
		of      string
		n, slow int
	}{
		"the first look":            {slowFor(0), "c", 0, 0},
		"half an hour":              {slowFor(6), "c", 6, 6},
		"more than an hour":         {slowFor(20), "c", plan.HistorySamples, plan.HistorySamples},
		"a quick disk":              {slowFor(20), "a", plan.HistorySamples, 0},
		"a look after two seconds":  {noted(slowFor(6), said(700), last(6).Add(2*time.Second)), "c", 6, 6},
		"a look at 4/5 of the time": {noted(slowFor(6), said(700), last(6).Add(every*4/5)), "c", 6, 6},
		"a look that is missed":     {noted(slowFor(6), said(700), last(8)), "c", 7, 7},
		"three that are":            {noted(slowFor(6), said(700), last(10)), "c", 7, 7},
		"four that are":             {noted(slowFor(6), said(700), last(11)), "c", 0, 0},
		"a server that starts anew": {noted(slowFor(6), said(10), last(7)), "c", 0, 0},
		"one that is busy since":    {noted(slowFor(6), anew(said(700)), last(7)), "c", 0, 0},
		"nobody writes":             {noted(slowFor(6), said(602), last(7)), "c", 7, 6},
		"it does not answer twice":  {noted(noted(noted(slowFor(6), but("c", said(700)), last(7)), but("c", said(800)), last(8)), said(900), last(9)), "c", 7, 7},
		"it does not for long": {
			noted(noted(noted(slowFor(6), but("c", said(700)), last(7)), but("c", said(900)), last(9)), said(1100), last(11)), "c", 0, 0,
		},
		"nobody else answers": {noted(slowFor(6), but("b", but("a", said(700))), last(7)), "c", 7, 6},
		"another one does not": {
			noted(noted(slowFor(6), but("a", said(700)), last(7)), said(800), last(8)), "a", 7, 0,
		},
	} {
		if n, slow := slow(c.h, c.of); n != c.n || slow != c.slow {
			t.Errorf("%s: slow in %d of %d samples, want %d of %d", title, slow, n, c.slow, c.n)
		}
	}
}

// anew are those figures of servers that have started since.
func anew(said map[string]*figures) map[string]*figures {
	for _, f := range said {
		f.started = 1
	}
	return said
}

// but are the figures of all but one.
func but(uid string, all map[string]*figures) map[string]*figures {
	delete(all, uid)
	return all
}

func noted(h *histories, now map[string]*figures, at time.Time) *histories {
	h.note(now, at, every)
	return h
}

// TestSharedSlowness takes no disk for slow alone whose server answers only now and then, while all do the same.
func TestSharedSlowness(t *testing.T) {
	h, start, n, sum := &histories{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0.0, 0.0
	for i := range 4*12 + 1 { // all disks are slow for 15 of 20 minutes; c answers only while they are not
		mean := 1.0
		if i%4 == 0 {
			mean = 0.001
		}
		n, sum = n+100, sum+100*mean
		f := &figures{flushes: durations{sum, n}}
		now := map[string]*figures{"a": f, "b": f}
		if i%4 == 0 {
			now["c"] = f
		}
		h.note(now, start.Add(time.Duration(i)*every), every)
	}
	if s := h.of("c").samples; s.alone != 0 {
		t.Fatalf("all disks did the same, and c's is slow alone: %d samples in four hours", len(s.at))
	}
}

// TestOldSamples drops what was seen of a disk long ago.
func TestOldSamples(t *testing.T) {
	h, start := &histories{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10 { // every third look
		h.note(said(float64(300*i)), start.Add(time.Duration(3*i)*every), every)
	}
	if n := len(h.of("c").samples.at); n != 7 {
		t.Errorf("%d samples within an hour and a half", n)
	}
}
