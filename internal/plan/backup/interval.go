package backup

import (
	"cmp"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// patience is for how many intervals the last good backup is good enough, as the alert EtcdBackupStale has it: one may fail, and be
// tried again.
const patience = 2

// Lapsed reports whether no good backup was taken for too long, since the last one, or since the EtcdBackup was created if there is none.
// It is false if the interval is 0: then none is due.
func Lapsed(since time.Time, interval time.Duration, now time.Time) bool {
	return interval > 0 && now.Sub(since) > patience*interval
}

// Interval is the time between two backups of a schedule, of those gaps that end before and after now the longer one: with one for working
// days only, the backup of Friday is as good on Monday, until the next one has had its time.
func Interval(s Schedule, now time.Time) time.Duration {
	if every, ok := s.(Every); ok {
		return time.Duration(every)
	}
	const day = 24 * time.Hour
	for _, back := range []time.Duration{time.Hour, day, 7 * day, 31 * day, 366 * day} {
		earlier, last := time.Time{}, time.Time{}
		next := s.Next(now.Add(-back))
		for !next.IsZero() && !next.After(now) {
			earlier, last, next = last, next, s.Next(next)
		}
		if !earlier.IsZero() && !next.IsZero() {
			return max(last.Sub(earlier), next.Sub(last))
		}
	}
	next := s.Next(now)
	if after := s.Next(next); !after.IsZero() {
		return after.Sub(next)
	}
	return 0
}

// IntervalOf is the time between two backups that are to be taken, 0 if no more are. It is read from the spec even if something else in
// that is wrong: they are due all the same.
func IntervalOf(b *v1beta2.EtcdBackup, now time.Time) time.Duration {
	schedule, problem := ParseSchedule(b.Spec.Schedule, b.Spec.TimeZone, PolicyInterval(b), now)
	if problem != nil || schedule == nil || b.Spec.Suspend || !b.DeletionTimestamp.IsZero() {
		return 0
	}
	return Interval(schedule, now)
}

// PolicyInterval is the time between two backups that spec.backupPolicy gives, 0 if it gives none.
func PolicyInterval(b *v1beta2.EtcdBackup) time.Duration {
	policy := b.Spec.BackupPolicy
	if policy == nil {
		return 0
	}
	return time.Duration(cmp.Or(policy.IntervalSeconds, policy.LegacyInterval)) * time.Second
}
