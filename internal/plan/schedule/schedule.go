// Package schedule reads schedules in the words of cron, those of backups and of maintenance windows, and says what follows from them.
package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule tells the first time after t at which something is due, zero if there is none.
type Schedule interface {
	Next(t time.Time) time.Time
}

// Fields are the names of the fields that a schedule and its time zone are in.
type Fields struct{ Schedule, TimeZone string }

// Parse reads the five fields of cron, or a word such as @daily, in a time zone of the IANA database, UTC if that is empty. A time that is to
// pass, such as @every 90m, is a cron.ConstantDelaySchedule. Now is any time from which on it is to be due. The error names the field, and
// says what to write there instead.
func Parse(expression, zone string, in Fields, now time.Time) (Schedule, error) {
	if strings.Contains(expression, "TZ=") {
		return nil, fmt.Errorf("%s %q: name the time zone in %s, not here", in.Schedule, expression, in.TimeZone)
	}
	location, err := time.LoadLocation(zone) // UTC if empty
	if err != nil || zone == "Local" {
		return nil, fmt.Errorf("%s: %q is no time zone: give one of the IANA database, such as Europe/Berlin", in.TimeZone, zone)
	}
	parsed, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w: give minute, hour, day of month, month and day of week, such as "+
			`"30 2 * * *", or a word such as @daily`, in.Schedule, expression, err)
	}
	if s, ok := parsed.(*cron.SpecSchedule); ok {
		s.Location = location
	}
	if parsed.Next(now).IsZero() {
		return nil, fmt.Errorf("%s %q: there is no such day", in.Schedule, expression)
	}
	return parsed, nil
}

// Last is the latest time after since, and not after now, at which something was due, zero if there is none.
func Last(s Schedule, since, now time.Time) time.Time {
	last, next := time.Time{}, s.Next(Near(s, since, now))
	for !next.IsZero() && !next.After(now) {
		last, next = next, s.Next(next)
	}
	return last
}

// Near returns a time from which few steps lead to now, not before since: counting every minute of a year would take too long.
func Near(s Schedule, since, now time.Time) time.Time {
	const day = 24 * time.Hour
	for _, back := range []time.Duration{time.Hour, day, 7 * day, 31 * day, 366 * day} {
		from := now.Add(-back)
		if from.After(since) && !s.Next(from).After(now) {
			return from
		}
	}
	return since
}
