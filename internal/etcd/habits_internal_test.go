package etcd

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// watched is a cluster of one voter whose figures are told every five minutes.
type watched struct {
	habits
	uid     string
	now     time.Time
	told    figures
	members []plan.Member
	// sums is all that was told of each signal so far, and count how often each thing was done.
	sums  [anomaly.Signals]float64
	count float64
}

func newWatched() *watched {
	w := &watched{uid: "a", now: time.Unix(1e9, 0), members: []plan.Member{{ID: 7, Name: "c-0"}}}
	w.looked = w.now
	return w
}

// goes on for so many samples in which flushes take so long, under that cluster's conditions.
func (w *watched) goes(samples int, flush float64, disturbed bool) {
	for range samples {
		w.now = w.now.Add(sampleEvery)
		w.told.flushes.count += 100
		w.told.flushes.sum += 100 * flush
		told := w.told
		w.disturbed = disturbed
		w.hears(&told, 0)
	}
}

// hears notes what the voter tells.
func (w *watched) hears(told *figures, inUse int64) {
	p := peer{endpoint: Endpoint{Pod: "c-0", PodUID: w.uid}}
	p.response.MemberID, p.response.DBSizeInUse = w.members[0].ID, inUse
	w.note(&Session{Seen: plan.Etcd{Members: w.members}, voters: []peer{p}}, map[string]*figures{w.uid: told}, w.now, sampleEvery)
}

func (w *watched) reports() anomaly.Report { return w.report(w.members, w.now, sampleEvery) }

func (w *watched) deviates() bool { return len(w.reports().Deviations) > 0 }

// TestHabitsFire has a member that is known for a day deviate in one signal, by what its metrics and its status say, and wants that to be told of
// this signal and of no other.
func TestHabitsFire(t *testing.T) {
	t.Parallel()
	for signal, c := range map[anomaly.Signal]struct{ usual, unusual float64 }{
		anomaly.Flush: {0.002, 0.3}, anomaly.RoundTrip: {0.001, 0.2}, anomaly.Apply: {0.0005, 0.1}, // seconds
		anomaly.Growth:    {1 << 10, 1 << 20}, // bytes a second
		anomaly.Elections: {0, 3},
	} {
		w, s := newWatched(), newSpoken()
		s[signal] = c.usual
		w.tells(t, s, int(anomaly.Day/sampleEvery))
		if r := w.reports(); len(r.Learning) != 1 || len(r.Known) != 0 || r.Until.IsZero() {
			t.Errorf("%d: before a day: %+v", signal, r)
		}
		w.tells(t, s, settling+2)
		if r := w.reports(); len(r.Learning) != 0 || len(r.Known) != 1 || len(r.Scarce) != 0 {
			t.Errorf("%d: after a day: %+v", signal, r)
		}
		s[signal] = c.unusual
		if w.tells(t, s, 2); w.deviates() {
			t.Errorf("%d: told after ten minutes", signal)
		}
		w.tells(t, s, 1)
		near := func(got, want float64) bool { return math.Abs(got-want) <= want/50 }
		all := w.reports().Deviations
		if len(all) != 1 || all[0].Member != "c-0" || all[0].Signal != signal || !near(all[0].Value, c.unusual) || !near(all[0].Usual, c.usual) {
			t.Errorf("%d: found %+v, want %g where %g is usual", signal, all, c.unusual, c.usual)
		}
	}
}

// spoken is what a member is like until the next sample, in each signal's unit.
type spoken [anomaly.Signals]float64

func newSpoken() *spoken {
	return &spoken{anomaly.Flush: 0.002, anomaly.RoundTrip: 0.001, anomaly.Apply: 0.0005}
}

// tells goes on for so many samples in which the member is like that, as the text of its metrics has it, and its status.
func (w *watched) tells(t *testing.T, s *spoken, samples int) {
	t.Helper()
	for range samples {
		w.now, w.count = w.now.Add(sampleEvery), w.count+100
		for i, v := range s {
			w.sums[i] += v
		}
		text := ""
		for histogram, signal := range map[string]anomaly.Signal{
			"etcd_disk_wal_fsync_duration_seconds%s": anomaly.Flush, `etcd_network_peer_round_trip_time_seconds%s{To="8"}`: anomaly.RoundTrip,
			`etcd_server_apply_duration_seconds%s{op="Put",success="true",version="v3"}`: anomaly.Apply,
		} {
			text += fmt.Sprintf(histogram+" %g\n"+histogram+" %g\n", "_sum", 100*w.sums[signal], "_count", w.count)
		}
		told := &figures{}
		if err := told.scan(strings.NewReader(text + fmt.Sprintf("etcd_server_leader_changes_seen_total %g\n", w.sums[anomaly.Elections]))); err != nil {
			t.Fatal(err)
		}
		w.hears(told, int64(w.sums[anomaly.Growth]*sampleEvery.Seconds()))
	}
}

// TestHabitsDoNotFire on what says nothing of the member: each of these makes its flushes slow for less than it takes to tell, or while
// something is under way.
func TestHabitsDoNotFire(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does func(*watched)
		// learned are how many samples more than before were learned of, of those that were slow.
		forgets bool
	}{
		"a roll": {does: func(w *watched) { w.goes(12, 0.3, true) }},
		"a restart": {does: func(w *watched) {
			w.told = figures{}
			w.goes(1+settling, 0.3, false)
		}},
		"a new pod on its volume": {does: func(w *watched) {
			w.uid, w.told = "b", figures{}
			w.goes(1+settling, 0.3, false)
		}},
		"a snapshot": {does: func(w *watched) {
			for range 6 {
				w.told.copies++
				w.goes(1, 0.3, false)
			}
		}},
		"a long snapshot": {does: func(w *watched) {
			w.told.copies, w.told.copying = w.told.copies+1, 1
			w.goes(6, 0.3, false)
			w.told.copying = 0
		}},
		"a quiet hour": {does: func(w *watched) { w.goes(12, 0, false) }},
		"an outage of the operator's sight": {does: func(w *watched) {
			w.now = w.now.Add(4 * sampleEvery)
			w.goes(1, 0.3, false)
		}},
		"a member replaced": {forgets: true, does: func(w *watched) {
			w.members, w.uid, w.told = []plan.Member{{ID: 8, Name: "c-0"}}, "c", figures{}
			w.goes(12, 0.3, false)
		}},
	} {
		w := newWatched()
		w.goes(int(anomaly.Day/sampleEvery)+settling+2, 0.02, false)
		if c.does(w); w.deviates() {
			t.Errorf("%s: %+v", name, w.reports().Deviations)
		}
		if known := len(w.reports().Known) == 1; known == c.forgets {
			t.Errorf("%s: the member is known: %t", name, known)
		}
		if len(w.habits.members) != 1 {
			t.Errorf("%s: %d members are remembered", name, len(w.habits.members))
		}
		w.goes(2, 0.3, false)
		if w.goes(1, 0.02, false); w.deviates() {
			t.Errorf("%s: what was left out counts afterwards", name)
		}
	}
}

// TestHabitsBlind: without samples nobody knows how a member is, whatever it was like.
func TestHabitsBlind(t *testing.T) {
	t.Parallel()
	w := newWatched()
	if r := w.reports(); r.Blind || len(r.Learning) != 1 {
		t.Errorf("at first: %+v", r)
	}
	w.goes(int(anomaly.Day/sampleEvery)+settling+2, 0.002, false)
	w.goes(3, 0.3, false)
	w.now = w.now.Add(time.Hour)
	if r := w.reports(); r.Blind || len(r.Known) != 1 || r.Trips == nil {
		t.Errorf("after an hour without a sample: %+v", r)
	}
	w.now = w.now.Add(time.Second)
	if r := w.reports(); !r.Blind || len(r.Known) != 0 || len(r.Unseen) != 1 || r.Trips != nil {
		t.Errorf("after more than an hour without a sample: %+v", r)
	}
	w.goes(13, 0.002, true)
	if r := w.reports(); !r.Blind {
		t.Errorf("where all samples are left out: %+v", r)
	}
	if w.goes(2, 0.002, false); !w.deviates() {
		t.Error("what is unusual is over after two samples")
	}
	if r := w.reports(); r.Blind || len(r.Known) != 1 {
		t.Errorf("once samples count again: %+v", r)
	}
}

// TestElectionsAreOfFiveMinutes, however far apart two samples are.
func TestElectionsAreOfFiveMinutes(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0)
	h, p := &habit{uid: "a", at: at, last: &figures{}}, peer{endpoint: Endpoint{PodUID: "a"}}
	v, known := h.next(p, &figures{elections: 3}, at.Add(3*sampleEvery), sampleEvery)
	if got := v[anomaly.Elections]; !known || got != 1 {
		t.Errorf("three within a quarter of an hour are %v", got)
	}
}
