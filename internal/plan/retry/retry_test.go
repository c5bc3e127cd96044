package retry

import (
	"reflect"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestJudge(t *testing.T) {
	full := &failure.Problem{Reason: "StorageFull", Message: "make room"}
	terminal := &failure.Problem{Reason: "NoSuchBucket", Message: "create it", Terminal: true}
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	at := func(started time.Time, p Pod) Try {
		return Try{Pod: p, Started: started, Timeout: time.Hour, Limit: "f"}
	}
	for title, c := range map[string]struct {
		try  Try
		want Verdict
	}{
		"at work":         {at(noon, Pod{Running: true}), Verdict{}},
		"starting":        {at(noon, Pod{}), Verdict{}},
		"done":            {at(noon, Pod{Ended: true, Result: &Result{}}), Verdict{Over: true}},
		"done, if late":   {at(ago(9*time.Hour), Pod{Result: &Result{}}), Verdict{Over: true}},
		"failed":          {at(noon, Pod{Result: &Result{Failure: full}}), Verdict{Over: true, Problem: full}},
		"failed for good": {at(noon, Pod{Result: &Result{Failure: terminal}}), Verdict{Over: true, Problem: terminal}},
		"killed": {
			at(noon, Pod{Ended: true, Problem: "OOMKilled"}),
			failed(v1beta2.ReasonAgentLost, "the pod exited without a termination message; OOMKilled"),
		},
		"leaving": {at(noon, Pod{Running: true, Deleting: true, Deadline: ago(-time.Minute)}), Verdict{}},
		"leaving, and never started": {
			at(ago(6*time.Minute), Pod{Deleting: true, Deadline: ago(-time.Minute), Problem: "no node"}), Verdict{},
		},
		"its node is lost": {
			at(noon, Pod{Running: true, Deleting: true, Deadline: ago(time.Minute)}),
			failed(v1beta2.ReasonAgentLost, "the pod was to end, and its node does not say that it has: look at the node"),
		},
		"nobody ends it": {
			at(ago(68*time.Minute), Pod{Running: true}),
			failed(v1beta2.ReasonTimeout, "the pod did not end after 1h0m0s (f): look at its node"),
		},
		"it is to end itself": {at(ago(66*time.Minute), Pod{Running: true}), Verdict{}},
		"does not start": {
			at(ago(time.Minute), Pod{Problem: "no node"}), Verdict{Problem: &failure.Problem{Reason: v1beta2.ReasonPodCannotStart, Message: "no node"}},
		},
		"never starts": {at(ago(6*time.Minute), Pod{Problem: "no node"}), failed(v1beta2.ReasonPodCannotStart, "no node")},
		"nobody says why": {
			at(ago(6*time.Minute), Pod{Name: "p"}),
			failed(v1beta2.ReasonPodCannotStart, "the pod does not start: kubectl describe pod p says why; a volume that is missing is the "+
				"usual reason"),
		},
		"the clock was set back":            {at(ago(-time.Hour), Pod{Running: true}), Verdict{ResetTimer: true}},
		"the clock was set back by moments": {at(ago(-time.Minute), Pod{Running: true}), Verdict{}},
		"set back, and done":                {at(ago(-time.Hour), Pod{Ended: true, Result: &Result{}}), Verdict{Over: true}},
		"set back, and its node is lost": {
			at(ago(-time.Hour), Pod{Deleting: true, Deadline: ago(-time.Hour)}),
			failed(v1beta2.ReasonAgentLost, "the pod was to end, and its node does not say that it has: look at the node"),
		},
	} {
		t.Run(title, func(t *testing.T) {
			if got := c.try.Judge(noon); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDelay(t *testing.T) {
	for attempt, want := range map[int]time.Duration{1: 10 * time.Second, 2: 20 * time.Second, 6: 5 * time.Minute, 99: 5 * time.Minute} {
		if got := Delay(attempt); got != want {
			t.Errorf("after try %d: %s, want %s", attempt, got, want)
		}
	}
	for after, want := range map[time.Duration]time.Duration{-time.Second: 0, time.Second: time.Second, time.Hour: 0} {
		if got := Pause(noon, noon.Add(after)); got != want {
			t.Errorf("%s away: %s, want %s", after, got, want)
		}
	}
}
