package anomaly_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
)

var start = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

// TestUnusual is what deviates from a day of samples.
func TestUnusual(t *testing.T) {
	t.Parallel()
	same := func(v float32) []float32 {
		all := make([]float32, 96)
		for i := range all {
			all[i] = v
		}
		return all
	}
	sawtooth, mostly := same(0), same(0.001)
	for i := range sawtooth {
		sawtooth[i] = float32(i%12) * 0.005 // up to 55 ms, MAD 15 ms
		if i%10 == 0 {
			mostly[i] = 0.3 // outliers move neither the median nor the MAD
		}
	}
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		signal anomaly.Signal
		value  float32
		before []float32
		want   bool
	}{
		"ten times as slow":                    {anomaly.Flush, 0.05, same(0.005), true},
		"twice as slow":                        {anomaly.Flush, 0.05, same(0.025), false},
		"a little more than twice as slow":     {anomaly.Flush, 0.051, same(0.025), true},
		"ten times as slow and still quick":    {anomaly.Flush, 0.01, same(0.001), false},
		"above the floor":                      {anomaly.Flush, 0.011, same(0.001), true},
		"quicker, in a quiet hour":             {anomaly.Flush, 0.001, same(0.05), false},
		"within the sawtooth":                  {anomaly.RoundTrip, 0.055, sawtooth, false},
		"within six MAD of the sawtooth":       {anomaly.RoundTrip, 0.11, sawtooth, false},
		"beyond six MAD of the sawtooth":       {anomaly.RoundTrip, 0.13, sawtooth, true},
		"unusual although a tenth was like it": {anomaly.Apply, 0.3, mostly, true},
		"nothing known":                        {anomaly.Flush, nan, same(0.005), false},
		"no growth before, a little now":       {anomaly.Growth, 10 << 10, same(0), false},
		"no growth before, much now":           {anomaly.Growth, 100 << 10, same(0), true},
		"it shrinks":                           {anomaly.Growth, -100 << 20, same(1 << 20), false},
		"one election":                         {anomaly.Elections, 1, same(0), false},
		"two elections":                        {anomaly.Elections, 2, same(0), true},
		"one, in a sample that is short":       {anomaly.Elections, 1.2, same(0), false},
		"elections as ever":                    {anomaly.Elections, 4, same(3), false},
	} {
		if got, _ := anomaly.Unusual(c.signal, c.value, c.before); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// day feeds a habit.
type day struct {
	anomaly.Habit
	now time.Time
}

// goes on for so many samples of that flush. Something else is always known, as of a real member.
func (d *day) goes(samples int, flush float32) {
	for range samples {
		d.now = d.now.Add(anomaly.Every)
		v := anomaly.Nothing()
		v[anomaly.Flush], v[anomaly.Elections] = flush, 0
		d.Note(v, d.now, anomaly.Every)
	}
}

// misses has no sample noted for that long.
func (d *day) misses(long time.Duration) { d.now = d.now.Add(long) }

func (d *day) deviates() bool { return len(d.Deviations()) > 0 }

const aDay = int(anomaly.Day / anomaly.Every)

// TestHabit has a member be slow after a day: that is told after a quarter of an hour and until a quarter of an hour after.
func TestHabit(t *testing.T) {
	t.Parallel()
	d := &day{now: start}
	d.goes(aDay+1, 0.002)
	for i := range 3 {
		if d.deviates() {
			t.Fatalf("told after %d samples", i)
		}
		d.goes(1, 0.3)
	}
	all := d.Deviations()
	if len(all) != 1 || all[0].Signal != anomaly.Flush || math.Abs(all[0].Value-0.3) > 1e-6 || math.Abs(all[0].Usual-0.002) > 1e-5 {
		t.Fatalf("found %+v", all)
	}
	d.goes(1, 0.5)
	if again := d.Deviations(); again[0] != all[0] {
		t.Errorf("what is told changes while nothing does: %+v", again)
	}
	d.goes(2, 0.002)
	if !d.deviates() {
		t.Error("over after ten minutes")
	}
	d.goes(1, 0.002)
	if d.deviates() {
		t.Error("not over after a quarter of an hour")
	}
}

// TestNotUnusual is what never is.
func TestNotUnusual(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	for name, does := range map[string]func(*day){
		"learning":            func(d *day) { d.goes(aDay-10, 0.002); d.goes(9, 0.3) },
		"a quiet hour":        func(d *day) { d.goes(aDay+1, 0.05); d.goes(12, 0.001); d.goes(12, 0.05) },
		"an idle day":         func(d *day) { d.goes(2*aDay, nan); d.goes(9, 0.3) },
		"idle for a while":    func(d *day) { d.goes(aDay+1, 0.002); d.goes(12, nan); d.goes(12, 0.002) },
		"ten minutes":         func(d *day) { d.goes(aDay+1, 0.002); d.goes(2, 0.3); d.goes(1, 0.002); d.goes(2, 0.3) },
		"no longer any news":  func(d *day) { d.goes(aDay+1, 0.002); d.goes(aDay, 0.3) },
		"idle while unusual":  func(d *day) { d.goes(aDay+1, 0.002); d.goes(6, 0.3); d.goes(3, nan) },
		"slow from the start": func(d *day) { d.goes(3*aDay, 0.3) },
		"gaps in a row":       func(d *day) { d.goes(aDay+1, 0.002); d.goes(2, 0.3); d.misses(5 * time.Hour); d.goes(2, 0.3) },
		"what was long ago":   func(d *day) { d.goes(aDay+1, 0.002); d.misses(240 * time.Hour); d.goes(9, 0.3) },
		"less than half a day is known": func(d *day) {
			d.goes(aDay+1, 0.002)
			d.misses(13 * time.Hour)
			d.goes(9, 0.3)
		},
		"less than half a day of that": func(d *day) { d.goes(aDay, nan); d.goes(aDay/2-12, 0.002); d.goes(9, 0.3) },
	} {
		d := &day{now: start}
		if does(d); d.deviates() {
			t.Errorf("%s: %+v", name, d.Deviations())
		}
	}
}

// TestGapsEndNothing: what is unusual stays so until three samples say otherwise, also where none could be taken for a while.
func TestGapsEndNothing(t *testing.T) {
	t.Parallel()
	d := &day{now: start}
	d.goes(aDay+1, 0.002)
	d.goes(3, 0.3)
	d.goes(2, 0.002)
	d.misses(2 * time.Hour)
	if d.goes(2, 0.002); !d.deviates() {
		t.Error("over after two samples in a row")
	}
	if d.goes(1, 0.002); d.deviates() {
		t.Error("not over after three")
	}
	d.misses(anomaly.Every) // a pass was late
	d.goes(1, 0.3)
	d.misses(anomaly.Every)
	if d.goes(2, 0.3); !d.deviates() {
		t.Error("one sample that is missing ends a row")
	}
}

// TestLearns says when a habit is known, and for how long it is not.
func TestLearns(t *testing.T) {
	t.Parallel()
	d := &day{now: start}
	if d.Learned(start.Add(48*time.Hour), anomaly.Every) || !d.Until(anomaly.Every).IsZero() || d.Seen(start, anomaly.Every) {
		t.Error("something is known of a member that was never sampled")
	}
	d.goes(1, 0.002)
	until := start.Add(anomaly.Every + anomaly.Day)
	if got := d.Until(anomaly.Every); !got.Equal(until) {
		t.Errorf("known at %s, want %s", got, until)
	}
	d.goes(aDay-1, 0.002)
	if d.Learned(until.Add(-1), anomaly.Every) || !d.Learned(until, anomaly.Every) {
		t.Error("it is known after a day, and not before")
	}
	if !d.Seen(d.now.Add(time.Hour), anomaly.Every) || d.Seen(d.now.Add(time.Hour+1), anomaly.Every) {
		t.Error("nothing is known of now after an hour without a sample, and not before")
	}
}

// TestLearnsOfEnough: two samples that are a day apart are no day, and signals that are known for less than half of one are named.
func TestLearnsOfEnough(t *testing.T) {
	t.Parallel()
	d := &day{now: start}
	d.goes(1, 0.002)
	d.misses(anomaly.Day - anomaly.Every)
	if d.goes(1, 0.002); d.Learned(d.now, anomaly.Every) {
		t.Error("two samples are a day")
	}
	d.goes(aDay/2-9, 0.002)
	if d.Learned(d.now, anomaly.Every) || !slices.Equal(d.Scarce(), []anomaly.Signal{anomaly.Flush, anomaly.Elections}) {
		t.Errorf("known after %v, scarce %v", d.now, d.Scarce())
	}
	if d.goes(9, 0.002); !d.Learned(d.now, anomaly.Every) || len(d.Scarce()) > 0 {
		t.Errorf("not known at %v after half a day, scarce %v", d.now, d.Scarce())
	}
	d.goes(aDay/2+18, float32(math.NaN()))
	if !d.Learned(d.now, anomaly.Every) || !slices.Equal(d.Scarce(), []anomaly.Signal{anomaly.Flush}) {
		t.Errorf("scarce %v after half a day without flushes", d.Scarce())
	}
	if d.goes(aDay/2, float32(math.NaN())); len(d.Scarce()) > 0 {
		t.Errorf("scarce %v after a day without flushes: there is nothing to compare", d.Scarce())
	}
}

// TestMemory holds what a member costs: 3,000 of them are to take less than 10 MiB, with what is kept beside and what the heap may grow by.
func TestMemory(t *testing.T) {
	t.Parallel()
	const members = 3000
	each := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			keep = new(anomaly.Habit)
		}
	}).AllocedBytesPerOp()
	if total := members * each; total > 5<<19 {
		t.Errorf("a member takes %d bytes, and %d of them %d", each, members, total)
	}
}

var keep *anomaly.Habit
