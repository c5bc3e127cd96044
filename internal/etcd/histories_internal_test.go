package etcd

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const every = 5 * time.Minute

// said are figures of three members after so many flushes, of which those of the third take a second each.
func said(flushes float64) map[string]figures {
	const quick = 0.001
	return map[string]figures{
		"a": {flushes: took{flushes * quick, flushes}}, "b": {flushes: took{flushes * quick, flushes}},
		"c": {flushes: took{flushes, flushes}},
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
		for _, s := range h.of[uid] {
			if s.slow && s.alone {
				slow++
			}
		}
		return len(h.of[uid]), slow
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
		"a look that is missed":     {noted(slowFor(6), said(700), last(8)), "c", 7, 7},
		"three that are":            {noted(slowFor(6), said(700), last(10)), "c", 0, 0},
		"a server that starts anew": {noted(slowFor(6), said(10), last(7)), "c", 0, 0},
		"nobody writes":             {noted(slowFor(6), said(602), last(7)), "c", 7, 6},
	} {
		if n, slow := slow(c.h, c.of); n != c.n || slow != c.slow {
			t.Errorf("%s: slow in %d of %d samples, want %d of %d", title, slow, n, c.slow, c.n)
		}
	}
}

func noted(h *histories, now map[string]figures, at time.Time) *histories {
	h.note(now, at, every)
	return h
}
