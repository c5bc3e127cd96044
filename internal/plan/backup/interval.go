package backup

import "time"

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
