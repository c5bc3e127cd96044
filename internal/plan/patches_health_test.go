package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestTrialBeginsAnew has what interrupts a trial make it longer, and take back the ten minutes of failures from nobody who comes and goes.
func TestTrialBeginsAnew(t *testing.T) {
	well := updated(1, true, 9*time.Minute)
	fails := func(o *Observed) {
		o.Pods[1].Ready, o.Pods[1].ReadyChanged = false, o.Now
		o.Etcd.Answers = append(o.Etcd.Answers[:1:1], o.Etcd.Answers[2:]...)
	}
	for title, c := range map[string]struct {
		change           func(*Observed)
		healthy, failing time.Duration // ago, -1 for never
	}{
		"nothing happens":                 {func(*Observed) {}, 9 * time.Minute, -1},
		"it was not ready in between":     {func(o *Observed) { o.Pods[1].ReadyChanged = now.Add(-time.Second) }, 0, -1},
		"it fails":                        {fails, -1, 0},
		"it does not answer the operator": {func(o *Observed) { fails(o); o.Pods[1].Ready = true }, -1, -1},
		"it is far behind":                {func(o *Observed) { o.Etcd.Answers[0].Committed, o.Etcd.Answers[2].Committed = 5000, 5000 }, -1, -1},
		"its pod is another one":          {func(o *Observed) { o.Pods[1].UID, o.Etcd.Answers[1].PodUID = "other", "other" }, 0, -1},
		"it has failed before":            {func(o *Observed) { o.Cluster.Tuned.Patch.Trial.Failing = now.Add(-5 * time.Minute) }, 9 * time.Minute, 5 * time.Minute},
		"and fails again": {
			func(o *Observed) { o.Cluster.Tuned.Patch.Trial.Failing = now.Add(-5 * time.Minute); fails(o) }, -1, 5 * time.Minute,
		},
	} {
		o := patchable(chose(former, time.Hour), well, c.change)
		trial := o.Cluster.Apply(nil, o).Tuned.Patch.Trial
		at := func(ago time.Duration) time.Time {
			if ago < 0 {
				return time.Time{}
			}
			return now.Add(-ago)
		}
		if !trial.Healthy.Equal(at(c.healthy)) || !trial.Failing.Equal(at(c.failing)) {
			t.Errorf("%s: %+v", title, trial)
		}
	}
}

// TestBehindOnTrial accepts no release whose member is behind between the first look and the last one, or does not answer, and says what is waited for.
func TestBehindOnTrial(t *testing.T) {
	for title, between := range map[string]func(*Observed){
		"it is behind":       func(o *Observed) { o.Etcd.Answers[0].Committed, o.Etcd.Answers[2].Committed = 50_000, 50_000 },
		"it does not answer": func(o *Observed) { o.Etcd.Answers = slices.Concat(o.Etcd.Answers[:1], o.Etcd.Answers[2:]) },
	} {
		o := patchable(chose(former, time.Hour), hasNewest, ready(2), updated(1, true, 0))
		up := o.Etcd.Answers
		for range 12 {
			o.Etcd.Answers = up
			if o = passed(edit(o, between), time.Minute); o.Cluster.Tuned.Patch.InsteadOf == "" {
				t.Fatalf("%s: it is accepted", title)
			}
			if held := heldBy(Assess(o)); !strings.HasPrefix(held, v1beta2.ReasonPatchOnTrial) || !strings.Contains(held, "or behind the leader") {
				t.Fatalf("%s: held: %q", title, held)
			}
			if act, back := Next(o).(CommitTuning); back {
				t.Fatalf("%s: %#v", title, act)
			}
		}
		o.Etcd.Answers = up
		if o = passed(o, 9*time.Minute); o.Cluster.Tuned.Patch.InsteadOf == "" || !o.Cluster.Tuned.Patch.Trial.Failing.IsZero() {
			t.Errorf("%s: once it is not any more: %+v", title, o.Cluster.Tuned.Patch)
		}
		if o = passed(passed(o, time.Minute), 0); o.Cluster.Tuned.Patch.InsteadOf != "" {
			t.Errorf("%s: ten minutes later: %+v", title, o.Cluster.Tuned.Patch)
		}
	}
}

// TestCrashInBetween takes a release back whose etcd has ended since it was healthy, whether or not a look came in between, and for no end of it
// before.
func TestCrashInBetween(t *testing.T) {
	down := func(o *Observed) {
		o.Pods[1].Ready, o.Pods[1].ReadyChanged = false, o.Now
		o.Etcd.Answers = append(o.Etcd.Answers[:1:1], o.Etcd.Answers[2:]...)
	}
	silent := func(o *Observed) { o.Etcd.Answers = append(o.Etcd.Answers[:1:1], o.Etcd.Answers[2:]...) }
	for title, c := range map[string]struct {
		begins   []func(*Observed)
		looks    []func(*Observed)
		retreats bool
	}{
		"it was down":           {[]func(*Observed){updated(1, true, time.Minute)}, []func(*Observed){down}, true},
		"it gave no answer":     {[]func(*Observed){updated(1, true, time.Minute)}, []func(*Observed){silent}, true},
		"it was starting":       {nil, []func(*Observed){down}, false},
		"so was its next pod":   {nil, []func(*Observed){down, func(o *Observed) { down(o); o.Pods[1].UID = "next" }}, false},
		"nobody has looked":     {[]func(*Observed){updated(1, true, time.Minute)}, nil, true},
		"it had started, twice": {nil, nil, false},
	} {
		o := patchable(append([]func(*Observed){chose(former, time.Hour), func(o *Observed) {
			o.Pods[1].Version, o.Volumes[1].Version, o.Etcd.Answers[1].Version = newest, newest, newest
		}}, c.begins...)...)
		for _, look := range c.looks {
			seen := passed(edit(o, look), time.Minute)
			o.Cluster.Record, o.Pods[1].UID, o.Now = seen.Cluster.Record, seen.Pods[1].UID, seen.Now
		}
		o.Etcd.Answers[1].PodUID, o.Pods[1].Restarts = o.Pods[1].UID, 1
		if act, back := Next(o).(CommitTuning); back != c.retreats {
			t.Errorf("%s: %#v", title, act)
		}
	}
}

// TestFlapping takes a release back whose member comes and goes, ten minutes after it first went, as if it had stayed away.
func TestFlapping(t *testing.T) {
	o := patchable(chose(former, time.Hour), updated(1, true, time.Minute))
	up, down := o.Etcd.Answers, slices.Concat(o.Etcd.Answers[:1], o.Etcd.Answers[2:])
	for minute := range 12 {
		o.Pods[1].Ready, o.Pods[1].ReadyChanged, o.Etcd.Answers = minute%2 == 1, o.Now, up
		if !o.Pods[1].Ready {
			o.Etcd.Answers = down
		}
		act, back := Next(o).(CommitTuning)
		if back != (minute == 10) {
			t.Errorf("after %d minutes: %#v", minute, Next(o))
		}
		if back {
			if act.Patch.Version != former || act.Refused != (RefusedPatch{Version: newest, Image: o.Cluster.Image(newest), Since: o.Now}) {
				t.Errorf("%+v", act)
			}
			return
		}
		o = passed(o, time.Minute)
	}
}
