package backup

import (
	"reflect"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return noon.Add(d) }

func parse(t *testing.T, text string) Schedule {
	t.Helper()
	s, err := cron.ParseStandard(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDue(t *testing.T) {
	berlin := parse(t, "TZ=Europe/Berlin 30 2 * * *")
	for title, c := range map[string]struct {
		o         Observed
		due, next time.Time
	}{
		"once":                  {Observed{Created: at(-time.Hour)}, at(-time.Hour), time.Time{}},
		"once, and done":        {Observed{Created: at(-time.Hour), Done: true}, time.Time{}, time.Time{}},
		"an interval at once":   {Observed{Created: noon, Schedule: Every(time.Hour)}, noon, at(time.Hour)},
		"an interval later":     {Observed{LastDue: at(-time.Minute), Schedule: Every(time.Hour)}, time.Time{}, at(59 * time.Minute)},
		"an interval again":     {Observed{LastDue: at(-time.Hour), Schedule: Every(time.Hour)}, noon, at(time.Hour)},
		"many missed, one run":  {Observed{LastDue: at(-150 * time.Minute), Schedule: Every(time.Hour)}, at(-30 * time.Minute), at(30 * time.Minute)},
		"cron not before it":    {Observed{Created: at(-time.Minute), Schedule: parse(t, "0 * * * *")}, noon, at(time.Hour)},
		"cron, just created":    {Observed{Created: noon, Schedule: parse(t, "0 * * * *")}, time.Time{}, at(time.Hour)},
		"cron, an outage":       {Observed{LastDue: at(-300 * time.Hour), Schedule: parse(t, "*/10 * * * *")}, noon, at(10 * time.Minute)},
		"cron, a year's outage": {Observed{LastDue: at(-9000 * time.Hour), Schedule: parse(t, "0 0 1 1 *")}, at(-36 * time.Hour), at(363*24*time.Hour + 12*time.Hour)},
		"a clock set back":      {Observed{LastDue: at(5 * time.Hour), Schedule: Every(time.Hour)}, time.Time{}, at(time.Hour)},
		"in another time zone":  {Observed{LastDue: at(-24 * time.Hour), Schedule: berlin}, at(-10*time.Hour - 30*time.Minute), at(13*time.Hour + 30*time.Minute)},
	} {
		t.Run(title, func(t *testing.T) {
			c.o.Now = noon
			due, next := c.o.due()
			if !due.Equal(c.due) || !next.Equal(c.next) {
				t.Errorf("due %s, next %s; want %s, %s", due.UTC(), next.UTC(), c.due, c.next)
			}
		})
	}
}

func TestNext(t *testing.T) {
	failure := Problem{"NoSuchBucket", "make it"}
	run := func(attempt int) *Run {
		return &Run{Task: TaskBackup, Due: noon, Attempt: attempt, Started: at(-time.Minute)}
	}
	pod := func(r *Result) *Pod { return &Pod{Name: "p", UID: "u", Result: r} }
	failed := func(attempt int, r *Result) Observed {
		return Observed{Created: noon, Timeout: time.Hour, Run: run(attempt), Pod: pod(r)}
	}
	for title, c := range map[string]struct {
		o    Observed
		want Action
	}{
		"due":       {Observed{Created: noon}, Start{Run{Task: TaskBackup, Due: noon, Attempt: 1, Started: noon}}},
		"suspended": {Observed{Created: noon, Suspended: true}, Idle{Reason: v1beta2.ReasonSuspended}},
		"the spec cannot be carried out": {
			Observed{Created: noon, Problem: &failure}, Blocked(failure),
		},
		"another is at work there": {Observed{Created: noon, Ahead: "b"}, Wait{Reason: v1beta2.ReasonWaitingForStorage}},
		"started":                  {Observed{Created: noon, Timeout: time.Hour, Run: run(1)}, CreatePod{}},
		"a pod of an earlier try is in the way": {
			Observed{Timeout: time.Hour, Run: run(2), Strays: []Pod{{Name: "q", UID: "v"}}}, DeletePod{"q", "v"},
		},
		"at work": {Observed{Timeout: time.Hour, Run: run(1), Pod: pod(nil)}, Wait{Reason: v1beta2.ReasonBackingUp}},
		"suspended, but under way": {
			Observed{Timeout: time.Hour, Suspended: true, Run: run(1), Pod: pod(nil)}, Wait{Reason: v1beta2.ReasonBackingUp},
		},
		"too long": {
			Observed{Timeout: time.Second, Run: run(1), Pod: pod(nil)},
			Retry{Failure: Problem{Reason: v1beta2.ReasonTimeout}, After: at(10 * time.Second)},
		},
		"done":      {failed(1, &Result{}), Finish{}},
		"failed":    {failed(2, &Result{Failure: &failure}), Retry{failure, at(20 * time.Second)}},
		"in vain":   {failed(1, &Result{Failure: &failure, Hopeless: true}), GiveUp{failure}},
		"too often": {failed(attempts, &Result{Failure: &failure}), GiveUp{failure}},
		"the pod was killed": {
			Observed{Timeout: time.Hour, Run: run(1), Pod: &Pod{Ended: true}},
			Retry{Failure: Problem{Reason: v1beta2.ReasonAgentLost}, After: at(10 * time.Second)},
		},
		"the next one is due before another try": {
			Observed{
				Timeout: time.Hour, LastDue: at(-time.Second), Schedule: Every(2 * time.Second), Run: run(1),
				Pod: pod(&Result{Failure: &failure}),
			}, GiveUp{failure},
		},
		"before another try its pod goes": {
			Observed{Run: &Run{RetryAfter: noon}, Pod: pod(nil)}, DeletePod{"p", "u"},
		},
		"not yet": {Observed{Run: &Run{RetryAfter: at(time.Second)}}, Wait{Reason: v1beta2.ReasonWaitingForRetry}},
		"another try": {
			Observed{Run: &Run{Task: TaskBackup, Attempt: 1, RetryAfter: noon}}, Start{Run{Task: TaskBackup, Attempt: 2, Started: noon}},
		},
		"a clock that was set back": {
			Observed{Run: &Run{Attempt: 1, RetryAfter: at(time.Hour)}}, Start{Run{Attempt: 2, Started: noon}},
		},
		"deleted":             {Observed{Deleting: true, Run: run(1), Pod: pod(nil)}, Release{}},
		"deleted with it all": {Observed{Deleting: true, Clean: true}, Start{Run{Task: TaskClean, Due: noon, Attempt: 1, Started: noon}}},
		"first what is under way": {
			Observed{Deleting: true, Clean: true, Run: run(1), Pod: pod(nil)}, DeletePod{"p", "u"},
		},
		"cleaned": {Observed{Deleting: true, Clean: true, Run: &Run{Task: TaskClean}, Pod: pod(&Result{})}, Release{}},
		"cleaning is never given up": {
			Observed{Deleting: true, Clean: true, Run: &Run{Task: TaskClean, Attempt: 99}, Pod: pod(&Result{Failure: &failure, Hopeless: true})},
			Retry{failure, at(lastDelay)},
		},
	} {
		t.Run(title, func(t *testing.T) {
			c.o.Now = noon
			if got := plain(Next(c.o)); !reflect.DeepEqual(got, plain(c.want)) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

// plain leaves out what is for people.
func plain(a Action) Action {
	switch a := a.(type) {
	case Wait:
		return Wait{Reason: a.Reason}
	case Idle:
		return Idle{Reason: a.Reason}
	case Retry:
		if a.Failure.Reason != "NoSuchBucket" {
			a.Failure.Message = ""
		}
		return a
	}
	return a
}
