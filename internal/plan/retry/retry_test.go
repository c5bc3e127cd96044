package retry

import (
	"reflect"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestJudge(t *testing.T) {
	full := &Problem{"StorageFull", "make room"}
	for title, c := range map[string]struct {
		try  Try
		want Verdict
	}{
		"at work":           {Try{Started: noon, Timeout: time.Hour}, Verdict{}},
		"done":              {Try{Pod: Pod{Ended: true, Result: &Result{}}}, Verdict{Over: true}},
		"done, if late":     {Try{Timeout: time.Second, Pod: Pod{Result: &Result{}}}, Verdict{Over: true}},
		"failed":            {Try{Pod: Pod{Result: &Result{Failure: full}}}, Verdict{Over: true, Problem: full}},
		"failed for good":   {Try{Pod: Pod{Result: &Result{full, true}}}, Verdict{true, full, true}},
		"killed":            {Try{Pod: Pod{Ended: true, Problem: "OOMKilled"}}, failed(v1beta2.ReasonAgentLost, "the pod ended without a word: OOMKilled")},
		"hangs":             {Try{Started: noon.Add(-61 * time.Second), Timeout: time.Minute, Field: "f"}, failed(v1beta2.ReasonTimeout, "not done after 1m0s (f)")},
		"does not start":    {Try{Started: noon.Add(-time.Minute), Timeout: time.Hour, Pod: Pod{Problem: "no node"}}, Verdict{Problem: &Problem{v1beta2.ReasonPodCannotStart, "no node"}}},
		"never starts":      {Try{Started: noon.Add(-6 * time.Minute), Timeout: time.Hour, Pod: Pod{Problem: "no node"}}, failed(v1beta2.ReasonPodCannotStart, "no node")},
		"it has just begun": {Try{Started: noon.Add(time.Hour), Timeout: time.Minute}, Verdict{}}, // the clock was set back
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
