package backup

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
	"github.com/etcdpilot/etcd-operator/internal/plan/schedule"
)

// Schedule tells the next time after t that a backup is due at.
type Schedule = schedule.Schedule

// Every is due again that long after the last time.
type Every time.Duration

// Next is part of Schedule.
func (e Every) Next(t time.Time) time.Time { return t.Add(time.Duration(e)) }

// Due is the latest time at or before now that no run was for yet, zero if there is none, and the first one after now, zero
// if there never is one. Times that were missed are made up for by one run.
func (o Observed) Due() (due, next time.Time) {
	switch {
	case o.Done:
		return time.Time{}, time.Time{}
	case o.Schedule == nil:
		return o.Created, time.Time{}
	}
	last := o.last()
	if last.After(o.Now.Add(retry.Slack)) {
		// What was done is of a future that is not to be waited for: a run is due at once, and from then on as ever.
		return o.Now, o.Schedule.Next(o.Now)
	}
	due, next = time.Time{}, o.Schedule.Next(o.near(last))
	for !next.IsZero() && !next.After(o.Now) {
		due, next = next, o.Schedule.Next(next)
	}
	return due, next
}

// last is the time after which a run is due: when the last one was.
func (o Observed) last() time.Time {
	every, interval := o.Schedule.(Every)
	switch {
	case !o.LastDue.IsZero():
		return o.LastDue
	case interval:
		return o.Created.Add(-time.Duration(every)) // the first one is due at once
	}
	return o.Created
}

// Overdue reports whether a run was missed for so long that another one has become due after it.
func (o Observed) Overdue() bool {
	if o.Schedule == nil {
		return false
	}
	due, _ := o.Due()
	return due.After(o.Schedule.Next(o.last()))
}

// onceLimit is how long one backup only is tried, which nothing supersedes.
const onceLimit = 24 * time.Hour

// exhausted reports whether the run is to fail rather than be attempted again at that time: the next one is due by then, or a
// day has passed. An outage of hours costs no more than those hours.
func (o Observed) exhausted(again time.Time) bool {
	if o.Schedule != nil {
		due, next := o.Due()
		return due.After(o.Run.Due) || !next.IsZero() && again.After(next)
	}
	began := o.Run.Began
	if began.IsZero() {
		began = o.Run.Started
	}
	return again.Sub(began) > onceLimit
}

// near returns a time from which few steps lead to now, not before the last one.
func (o Observed) near(last time.Time) time.Time {
	if every, ok := o.Schedule.(Every); ok {
		missed := o.Now.Sub(last) / time.Duration(every)
		return last.Add(max(missed-1, 0) * time.Duration(every))
	}
	return schedule.Near(o.Schedule, last, o.Now)
}
