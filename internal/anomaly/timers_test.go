package anomaly_test

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
)

const ms = time.Millisecond

// steady are the probes of an hour where a round trip always takes that long: half of them take one, the other half that many.
func steady(trip time.Duration, connecting int) (p anomaly.Probes) {
	const each = 120
	for _, took := range []time.Duration{trip, trip * time.Duration(connecting)} {
		p.Sum += each * took.Seconds()
		for i := range p.Took {
			if bound := 100 * time.Microsecond << i; took <= bound || i == len(p.Took)-1 {
				p.Took[i] += each
			}
		}
	}
	return p
}

// over is how long round trips take with TLS.
func over(trip time.Duration) map[anomaly.Way]anomaly.Probes {
	return map[anomaly.Way]anomaly.Probes{{From: 1, To: 2}: steady(trip, 3)}
}

// hours are that many with the same probes.
func hours(n int, probes map[anomaly.Way]anomaly.Probes) (all []map[anomaly.Way]anomaly.Probes) {
	for range n {
		all = append(all, probes)
	}
	return all
}

// advised is what is advised after these hours.
func advised(has anomaly.Timers, each time.Duration, all ...[]map[anomaly.Way]anomaly.Probes) anomaly.Timers {
	tr, now := anomaly.Trips{}, start
	tr.Note(nil, now, anomaly.Every)
	for _, some := range all {
		for _, probes := range some {
			now = now.Add(each)
			tr.Note(probes, now, anomaly.Every)
		}
	}
	advice, due := tr.Advice(has)
	if !due {
		return anomaly.Timers{}
	}
	return advice.Timers
}

// TestAdvice is what is advised after days of round trips.
func TestAdvice(t *testing.T) {
	t.Parallel()
	usual := anomaly.Timers{Heartbeat: 100 * ms, Election: time.Second}
	ways := map[anomaly.Way]anomaly.Probes{
		{From: 1, To: 2}: steady(ms, 3), {From: 2, To: 1}: steady(ms, 3), {From: 1, To: 3}: steady(110*ms, 3), {From: 3, To: 1}: {},
	}
	none := map[anomaly.Way]anomaly.Probes{}
	for name, c := range map[string]struct {
		hours []map[anomaly.Way]anomaly.Probes
		has   anomaly.Timers
		want  anomaly.Timers
	}{
		"quick":                    {hours(48, over(ms)), usual, anomaly.Timers{}},
		"slow for less than a day": {hours(23, over(110*ms)), usual, anomaly.Timers{}},
		"slow for a day":           {hours(24, over(110*ms)), usual, anomaly.Timers{Heartbeat: 150 * ms, Election: 1500 * ms}},
		"slower":                   {hours(24, over(250*ms)), usual, anomaly.Timers{Heartbeat: 350 * ms, Election: 3500 * ms}},
		"without TLS":              {hours(24, map[anomaly.Way]anomaly.Probes{{}: steady(250*ms, 2)}), usual, anomaly.Timers{Heartbeat: 250 * ms, Election: 2500 * ms}},
		"one way of many":          {hours(24, ways), usual, anomaly.Timers{Heartbeat: 150 * ms, Election: 1500 * ms}},
		"one quick hour":           {append(hours(23, over(110*ms)), over(ms)), usual, anomaly.Timers{}},
		"slow again for a day":     {append(hours(1, over(ms)), hours(24, over(110*ms))...), usual, anomaly.Timers{Heartbeat: 150 * ms, Election: 1500 * ms}},
		"one terrible hour":        {append(hours(23, over(110*ms)), over(3*time.Second)), usual, anomaly.Timers{Heartbeat: 150 * ms, Election: 1500 * ms}},
		"one hour without probes":  {append(hours(23, over(110*ms)), none), usual, anomaly.Timers{}},
		"beyond what etcd takes":   {hours(24, over(20*time.Second)), usual, anomaly.Timers{Heartbeat: 5 * time.Second, Election: 50 * time.Second}},
		"long enough already":      {hours(24, over(110*ms)), anomaly.Timers{Heartbeat: 150 * ms, Election: 1500 * ms}, anomaly.Timers{}},
		"one of them is":           {hours(24, over(250*ms)), anomaly.Timers{Heartbeat: 100 * ms, Election: 4 * time.Second}, anomaly.Timers{Heartbeat: 350 * ms, Election: 4 * time.Second}},
		"the other one is":         {hours(24, over(250*ms)), anomaly.Timers{Heartbeat: 400 * ms, Election: 2 * time.Second}, anomaly.Timers{Heartbeat: 400 * ms, Election: 3500 * ms}},
	} {
		if got := advised(c.has, time.Hour, c.hours); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestNoAdvice: etcd's own times are made for round trips of up to 100 ms, and what a bucket cannot tell is not advised, nor again what has been
// followed.
func TestNoAdvice(t *testing.T) {
	t.Parallel()
	usual := anomaly.Timers{Heartbeat: 100 * ms, Election: time.Second}
	for trip := ms; trip <= 102*ms; trip += ms {
		for connecting := 2; connecting <= 4; connecting++ {
			probes := map[anomaly.Way]anomaly.Probes{{}: steady(trip, connecting)}
			if got := advised(usual, time.Hour, hours(48, probes)); got != (anomaly.Timers{}) {
				t.Fatalf("round trips of %s: advised %+v", trip, got)
			}
		}
	}
	for trip := 103 * ms; trip < 6*time.Second; trip += 7 * ms {
		got := advised(usual, time.Hour, hours(24, over(trip)))
		if again := advised(got, time.Hour, hours(24, over(trip))); got.Heartbeat < min(trip, 5*time.Second) || again != (anomaly.Timers{}) {
			t.Fatalf("round trips of %s: advised %+v, and then %+v", trip, got, again)
		}
	}
}

// TestAdviceInTests: where an hour is a hundredth of one, etcd has probed each way twice in it.
func TestAdviceInTests(t *testing.T) {
	const every = anomaly.Every / 100
	for probes, want := range map[uint32]bool{0: false, 2: true} {
		tr, now, trip := anomaly.Trips{}, start, anomaly.Probes{Sum: float64(probes) * 0.4}
		for i := range trip.Took {
			if 100*time.Microsecond<<i >= 400*ms || i == len(trip.Took)-1 {
				trip.Took[i] = probes
			}
		}
		tr.Note(nil, now, every)
		for range 24 {
			now = now.Add(time.Hour / 100)
			tr.Note(map[anomaly.Way]anomaly.Probes{{From: 1, To: 2}: trip}, now, every)
		}
		if _, due := tr.Advice(anomaly.Timers{Heartbeat: 100 * ms, Election: time.Second}); due != want {
			t.Errorf("%d probes in each: advised: %t", probes, due)
		}
	}
}

// TestNoAdviceOverGaps: 24 hours that are eleven hours apart are no day.
func TestNoAdviceOverGaps(t *testing.T) {
	t.Parallel()
	usual := anomaly.Timers{Heartbeat: 100 * ms, Election: time.Second}
	if got := advised(usual, 11*time.Hour, hours(48, over(300*ms))); got != (anomaly.Timers{}) {
		t.Errorf("advised %+v", got)
	}
}

// TestProbesSince counts what was observed since, also of a member that counts anew.
func TestProbesSince(t *testing.T) {
	t.Parallel()
	before, now := steady(ms, 2), steady(ms, 2)
	for i := range now.Took {
		now.Took[i] *= 3
	}
	now.Sum *= 3
	got := now.Since(before)
	if want := 2 * before.Took[16]; got.Took[16] != want || got.Sum < 1.99*before.Sum || got.Sum > 2.01*before.Sum {
		t.Errorf("%+v", got)
	}
	if got := before.Since(now); got != (anomaly.Probes{}) {
		t.Errorf("%+v of a member that counts anew", got)
	}
}
