package anomaly_test

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
)

// trips are 200 round trips in the bucket of up to 0.1 ms doubled that often; 16 is beyond the last bound.
func trips(bucket int) (b anomaly.Buckets) {
	for i := bucket; i < len(b); i++ {
		b[i] = 200
	}
	return b
}

// TestAdvice is what is advised after days of round trips, an hour in each element.
func TestAdvice(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	usual := anomaly.Timers{Heartbeat: 100 * ms, Election: time.Second}
	hours := func(n int, b anomaly.Buckets) (all []anomaly.Buckets) {
		for range n {
			all = append(all, b)
		}
		return all
	}
	quick, slow := trips(4), trips(11) // up to 1.6 ms; 102 to 205 ms
	mixed := trips(4)
	for i := range 11 { // 2 of 100 take more than 102 ms
		mixed[i] = min(mixed[i], 196)
	}
	for name, c := range map[string]struct {
		hours []anomaly.Buckets
		has   anomaly.Timers
		want  anomaly.Timers
	}{
		"quick":                        {hours(48, quick), usual, anomaly.Timers{}},
		"slow for less than a day":     {hours(23, slow), usual, anomaly.Timers{}},
		"slow for a day":               {hours(24, slow), usual, anomaly.Timers{Heartbeat: 250 * ms, Election: 2500 * ms}},
		"the slowest of a hundred":     {hours(24, mixed), usual, anomaly.Timers{Heartbeat: 200 * ms, Election: 2 * time.Second}},
		"one quick hour":               {append(hours(23, slow), quick), usual, anomaly.Timers{}},
		"slow again for a day":         {append(hours(1, quick), hours(24, slow)...), usual, anomaly.Timers{Heartbeat: 250 * ms, Election: 2500 * ms}},
		"one terrible hour":            {append(hours(23, slow), trips(15)), usual, anomaly.Timers{Heartbeat: 250 * ms, Election: 2500 * ms}},
		"one hour without round trips": {append(hours(23, slow), anomaly.Buckets{}), usual, anomaly.Timers{}},
		"beyond what etcd takes":       {hours(24, trips(16)), usual, anomaly.Timers{Heartbeat: 3300 * ms, Election: 33 * time.Second}},
		"long enough already":          {hours(24, slow), anomaly.Timers{Heartbeat: 300 * ms, Election: 3 * time.Second}, anomaly.Timers{}},
		"one of them is":               {hours(24, slow), anomaly.Timers{Heartbeat: 100 * ms, Election: 4 * time.Second}, anomaly.Timers{Heartbeat: 250 * ms, Election: 4 * time.Second}},
		"longer than 50 ms, and short enough for etcd's own times": {hours(24, trips(9)), usual, anomaly.Timers{}},
	} {
		tr, now := anomaly.Trips{}, start
		tr.Note(anomaly.Buckets{}, now, time.Hour)
		for _, b := range c.hours {
			now = now.Add(time.Hour)
			tr.Note(b, now, time.Hour)
		}
		got, due := tr.Advice(c.has)
		if !due {
			got = anomaly.Timers{}
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
