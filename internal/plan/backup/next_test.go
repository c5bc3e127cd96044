package backup

import (
	"reflect"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
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
		"once":                       {Observed{Created: at(-time.Hour)}, at(-time.Hour), time.Time{}},
		"once, and done":             {Observed{Created: at(-time.Hour), Done: true}, time.Time{}, time.Time{}},
		"an interval at once":        {Observed{Created: noon, Schedule: Every(time.Hour)}, noon, at(time.Hour)},
		"an interval, a while after": {Observed{Created: at(-90 * time.Minute), Schedule: Every(time.Hour)}, at(-30 * time.Minute), at(30 * time.Minute)},
		"an interval later":          {Observed{LastDue: at(-time.Minute), Schedule: Every(time.Hour)}, time.Time{}, at(59 * time.Minute)},
		"an interval again":          {Observed{LastDue: at(-time.Hour), Schedule: Every(time.Hour)}, noon, at(time.Hour)},
		"many missed, one run":       {Observed{LastDue: at(-150 * time.Minute), Schedule: Every(time.Hour)}, at(-30 * time.Minute), at(30 * time.Minute)},
		"cron not before it":         {Observed{Created: at(-time.Minute), Schedule: parse(t, "0 * * * *")}, noon, at(time.Hour)},
		"cron, just created":         {Observed{Created: noon, Schedule: parse(t, "0 * * * *")}, time.Time{}, at(time.Hour)},
		"cron, an outage":            {Observed{LastDue: at(-300 * time.Hour), Schedule: parse(t, "*/10 * * * *")}, noon, at(10 * time.Minute)},
		"cron, a year's outage":      {Observed{LastDue: at(-9000 * time.Hour), Schedule: parse(t, "0 0 1 1 *")}, at(-36 * time.Hour), at(363*24*time.Hour + 12*time.Hour)},
		"a clock set back":           {Observed{LastDue: at(5 * time.Hour), Schedule: Every(time.Hour)}, noon, at(time.Hour)},
		"set back by a moment":       {Observed{LastDue: at(time.Second), Schedule: Every(time.Hour)}, time.Time{}, at(time.Hour + time.Second)},
		"set back since its making":  {Observed{Created: at(5 * time.Hour), Schedule: Every(time.Hour)}, noon, at(time.Hour)},
		"in another time zone":       {Observed{LastDue: at(-24 * time.Hour), Schedule: berlin}, at(-10*time.Hour - 30*time.Minute), at(13*time.Hour + 30*time.Minute)},
	} {
		t.Run(title, func(t *testing.T) {
			c.o.Now = noon
			due, next := c.o.Due()
			if !due.Equal(c.due) || !next.Equal(c.next) {
				t.Errorf("due %s, next %s; want %s, %s", due.UTC(), next.UTC(), c.due, c.next)
			}
		})
	}
}

// TestOverdue wants it to be said that backups are left out.
func TestOverdue(t *testing.T) {
	hourly := Observed{Now: noon, Schedule: Every(time.Hour)}
	for ago, want := range map[time.Duration]bool{time.Minute: false, time.Hour: false, 119 * time.Minute: false, 2 * time.Hour: true} {
		hourly.LastDue = at(-ago)
		if got := hourly.Overdue(); got != want {
			t.Errorf("the last one was due %s ago: got %v", ago, got)
		}
	}
	if once := (Observed{Now: noon, Created: at(-99 * time.Hour)}); once.Overdue() {
		t.Error("nothing follows the only one")
	}
}

func TestNext(t *testing.T) {
	why := failure.Problem{Reason: "NoSuchBucket", Message: "make it"}
	terminal := failure.Problem{Reason: "NoSuchBucket", Message: "make it", Terminal: true}
	run := func(attempt int) *Run {
		return &Run{Task: TaskBackup, Due: noon, Attempt: attempt, Started: at(-time.Minute), Made: true}
	}
	pod := func(r *retry.Result) *retry.Pod { return &retry.Pod{Name: "p", UID: "u", Running: true, Result: r} }
	failed := func(attempt int, r *retry.Result) Observed {
		return Observed{Created: noon, Timeout: time.Hour, Run: run(attempt), Pod: pod(r)}
	}
	lost, damaged := failure.Problem{Reason: v1beta2.ReasonAgentLost}, failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged}
	longAgo := run(99)
	longAgo.Began = at(-24 * time.Hour)
	nightly := func(attempt int) *Run {
		r := run(attempt)
		r.Due, r.Began = at(-time.Hour), at(-time.Hour)
		return r
	}
	for title, c := range map[string]struct {
		o    Observed
		want Action
	}{
		"due":                    {Observed{Created: noon}, Start{Run{Task: TaskBackup, Due: noon, Attempt: 1, Began: noon, Started: noon}}},
		"its cluster hibernates": {Observed{Created: noon, Asleep: "they are stopped"}, Idle{Reason: v1beta2.ReasonHibernated, Message: "they are stopped"}},
		"suspended":              {Observed{Created: noon, Suspended: true}, Idle{Reason: v1beta2.ReasonSuspended}},
		"the spec cannot be carried out": {
			Observed{Created: noon, Problem: &why}, Blocked(why),
		},
		"over, whatever the spec is now": {
			Observed{Created: noon, Done: true, Suspended: true, Problem: &why}, Idle{Reason: v1beta2.ReasonCompleted},
		},
		"another is at work there": {Observed{Created: noon, Ahead: "b"}, Wait{Reason: v1beta2.ReasonWaitingForStorage}},
		"a pod that failed before goes first": {
			Observed{Created: noon, OrphanedPods: []retry.Pod{{Name: "q", UID: "v", Ended: true}}}, DeletePod{"q", "v"},
		},
		"started": {
			Observed{Created: noon, Timeout: time.Hour, Run: &Run{Task: TaskBackup, Started: noon}}, CreatePod{},
		},
		"the spec went bad before there was a pod": {
			Observed{Problem: &why, Run: &Run{Task: TaskBackup}}, CancelRun{why},
		},
		"a pod of an earlier try is in the way": {
			Observed{Timeout: time.Hour, Run: &Run{Attempt: 2}, OrphanedPods: []retry.Pod{{Name: "q", UID: "v"}}}, DeletePod{"q", "v"},
		},
		"at work": {Observed{Timeout: time.Hour, Run: run(1), Pod: pod(nil)}, Wait{Reason: v1beta2.ReasonBackingUp}},
		"at work, but the spec went bad": {
			Observed{Timeout: time.Hour, Problem: &why, Run: run(1), Pod: pod(nil)}, Wait{Reason: v1beta2.ReasonBackingUp},
		},
		"suspended, but under way": {
			Observed{Timeout: time.Hour, Suspended: true, Run: run(1), Pod: pod(nil)}, Wait{Reason: v1beta2.ReasonBackingUp},
		},
		"too long": {
			Observed{
				Timeout: time.Minute, Run: &Run{Task: TaskBackup, Attempt: 1, Started: at(-9 * time.Minute)}, Pod: pod(nil),
			}, Retry{Failure: failure.Problem{Reason: v1beta2.ReasonTimeout}, After: at(10 * time.Second)},
		},
		"the clock was set back": {
			Observed{Timeout: time.Minute, Run: &Run{Task: TaskBackup, Attempt: 1, Started: at(9 * time.Hour)}, Pod: pod(nil)}, ResetTimer{},
		},
		"not started yet": {
			Observed{Run: run(1), Pod: &retry.Pod{Problem: "no node"}}, Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"not started for too long": {
			Observed{Timeout: time.Hour, Run: &Run{Task: TaskBackup, Attempt: 1, Started: at(-6 * time.Minute)}, Pod: &retry.Pod{}},
			Retry{Failure: failure.Problem{Reason: v1beta2.ReasonPodCannotStart}, After: at(10 * time.Second)},
		},
		"done":    {failed(1, &retry.Result{}), Finish{}},
		"failed":  {failed(2, &retry.Result{Failure: &why}), Retry{why, at(20 * time.Second)}},
		"in vain": {failed(1, &retry.Result{Failure: &terminal}), GiveUp{terminal}},
		"failed often, and it may still go away": {
			failed(99, &retry.Result{Failure: &why}), Retry{why, at(5 * time.Minute)},
		},
		"a day has passed for the one that was asked for": {
			Observed{Created: noon, Timeout: time.Hour, Run: longAgo, Pod: pod(&retry.Result{Failure: &why})}, GiveUp{why},
		},
		"damaged again":     {failed(retry.Attempts-1, &retry.Result{Failure: &damaged}), Retry{damaged, at(160 * time.Second)}},
		"damaged each time": {failed(retry.Attempts, &retry.Result{Failure: &damaged}), GiveUp{damaged}},
		"an outage in the night": {
			Observed{
				Timeout: time.Hour, LastDue: at(-24 * time.Hour), Schedule: Every(23 * time.Hour), Run: nightly(99),
				Pod: pod(&retry.Result{Failure: &why}),
			}, Retry{why, at(5 * time.Minute)},
		},
		"an outage until the next night": {
			Observed{
				Timeout: time.Hour, LastDue: at(-46*time.Hour + 4*time.Minute), Schedule: Every(23 * time.Hour), Run: nightly(270),
				Pod: pod(&retry.Result{Failure: &why}),
			}, GiveUp{why},
		},
		"another one became due while it was tried": {
			Observed{
				Timeout: time.Hour, LastDue: at(-47 * time.Hour), Schedule: Every(23 * time.Hour),
				Run: &Run{Task: TaskBackup, Due: at(-24 * time.Hour), Attempt: 2, Started: at(-2 * time.Hour), Made: true},
				Pod: pod(&retry.Result{Failure: &why}),
			}, GiveUp{why},
		},
		"the pod was killed": {
			Observed{Timeout: time.Hour, Run: run(1), Pod: &retry.Pod{Ended: true}}, Retry{lost, at(10 * time.Second)},
		},
		"the pod was deleted": {Observed{Timeout: time.Hour, Run: run(1)}, Retry{lost, at(10 * time.Second)}},
		"the pod is being deleted": {
			Observed{Timeout: time.Hour, Run: run(1), Pod: &retry.Pod{Running: true, Deleting: true, Deadline: noon}},
			Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"the pod's node is lost": {
			Observed{Timeout: time.Hour, Run: run(1), Pod: &retry.Pod{Running: true, Deleting: true, Deadline: at(-time.Minute)}},
			Retry{lost, at(10 * time.Second)},
		},
		"the next one is due before another try": {
			Observed{
				Timeout: time.Hour, LastDue: at(-time.Second), Schedule: Every(2 * time.Second), Run: run(1),
				Pod: pod(&retry.Result{Failure: &why}),
			}, GiveUp{why},
		},
		"not yet, and the pod stays for its log": {
			Observed{Run: &Run{RetryAfter: at(time.Second)}, Pod: pod(nil)}, Wait{Reason: v1beta2.ReasonWaitingForRetry},
		},
		"before another try its pod goes": {
			Observed{Run: &Run{RetryAfter: noon}, Pod: pod(nil)}, DeletePod{"p", "u"},
		},
		"another try, but another is at work there": {
			Observed{Run: &Run{Task: TaskBackup, RetryAfter: noon}, Ahead: "b"}, Wait{Reason: v1beta2.ReasonWaitingForStorage},
		},
		"another try": {
			Observed{Run: &Run{Task: TaskBackup, Attempt: 1, Began: at(-time.Hour), RetryAfter: noon}},
			Start{Run{Task: TaskBackup, Attempt: 2, Began: at(-time.Hour), Started: noon}},
		},
		"another try, though a lost node has the pod": {
			Observed{
				Run:          &Run{Task: TaskBackup, Attempt: 1, RetryAfter: noon},
				OrphanedPods: []retry.Pod{{Name: "q", Deleting: true, Deadline: at(-time.Hour)}},
			}, Start{Run{Task: TaskBackup, Attempt: 2, Started: noon}},
		},
		"a clock that was set back": {
			Observed{Run: &Run{Attempt: 1, RetryAfter: at(time.Hour)}}, Start{Run{Attempt: 2, Started: noon}},
		},
	} {
		t.Run(title, func(t *testing.T) { check(t, c.o, c.want) })
	}
}

// TestLeftovers wants the last failed pod to be kept for its log, and no other.
func TestLeftovers(t *testing.T) {
	older := retry.Pod{Name: "older", UID: "1", Ended: true, Created: at(-2 * time.Hour)}
	newer := retry.Pod{Name: "newer", UID: "2", Ended: true, Created: at(-time.Hour), Result: &retry.Result{Failure: &failure.Problem{}}}
	good := retry.Pod{Name: "good", UID: "3", Ended: true, Created: noon, Result: &retry.Result{}}
	stuck := retry.Pod{Name: "stuck", UID: "4", Running: true, Created: noon}
	for title, c := range map[string]struct {
		strays []retry.Pod
		want   Action
	}{
		"the last":        {[]retry.Pod{newer}, Idle{Reason: v1beta2.ReasonCompleted}},
		"one before it":   {[]retry.Pod{older, newer}, DeletePod{"older", "1"}},
		"one that worked": {[]retry.Pod{newer, good}, DeletePod{"good", "3"}},
		"one that runs":   {[]retry.Pod{newer, stuck}, DeletePod{"stuck", "4"}},
	} {
		t.Run(title, func(t *testing.T) { check(t, Observed{Done: true, OrphanedPods: c.strays}, c.want) })
	}
}

func TestEnd(t *testing.T) {
	why := failure.Problem{Reason: "NoSuchBucket", Message: "make it"}
	terminal := failure.Problem{Reason: "NoSuchBucket", Message: "make it", Terminal: true}
	cleaning := func(attempt int, p *retry.Pod) Observed {
		return Observed{HasFinalizer: true, Clean: true, Written: true, Run: &Run{Task: TaskClean, Attempt: attempt, Made: true}, Pod: p}
	}
	written := Observed{HasFinalizer: true, Clean: true, Written: true}
	blocked, running := written, written
	blocked.Problem = &why
	running.Run, running.Pod = &Run{Task: TaskBackup}, &retry.Pod{Name: "p", UID: "u", Running: true}
	retained := cleaning(3, &retry.Pod{Running: true})
	retained.Clean = false
	for title, c := range map[string]struct {
		o    Observed
		want Action
	}{
		"the objects stay":         {Observed{Run: &Run{Task: TaskBackup}, Pod: &retry.Pod{}}, Idle{Reason: v1beta2.ReasonTerminating}},
		"the objects go":           {written, Start{Run{Task: TaskClean, Due: noon, Attempt: 1, Began: noon, Started: noon}}},
		"there are none":           {Observed{HasFinalizer: true, Clean: true}, RemoveFinalizer{}},
		"first what is under way":  {running, DeletePod{"p", "u"}},
		"nobody knows where":       {blocked, Blocked(why)},
		"cleaned":                  {cleaning(1, &retry.Pod{Result: &retry.Result{}}), RemoveFinalizer{}},
		"they are to stay, rather": {retained, RemoveFinalizer{}},
		"it is never given up": {
			cleaning(99, &retry.Pod{Result: &retry.Result{Failure: &terminal}}), Retry{terminal, at(5 * time.Minute)},
		},
	} {
		t.Run(title, func(t *testing.T) {
			c.o.Deleting = true
			check(t, c.o, c.want)
		})
	}
}

// TestFinalizer wants the finalizer to be there before anything is written, and to go with the policy.
func TestFinalizer(t *testing.T) {
	check(t, Observed{Clean: true, Created: noon}, AddFinalizer{})
	check(t, Observed{HasFinalizer: true, Run: &Run{}}, RemoveFinalizer{})
}

func check(t *testing.T, o Observed, want Action) {
	t.Helper()
	o.Now = noon
	if got := plain(Next(o)); !reflect.DeepEqual(got, plain(want)) {
		t.Errorf("got %#v, want %#v", got, want)
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
	default:
		return a
	}
}
