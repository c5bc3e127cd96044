package backup_test

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
)

func TestInterval(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	const day = 24 * time.Hour
	for _, c := range []struct {
		schedule string
		every    time.Duration
		now      string
		want     time.Duration
	}{
		{every: 90 * time.Minute, now: "2026-11-24T12:00:00Z", want: 90 * time.Minute},
		{schedule: "* * * * *", now: "2026-11-24T12:00:30Z", want: time.Minute},
		{schedule: "30 2 * * *", now: "2026-11-24T12:00:00Z", want: day},
		{schedule: "30 2 * * 1-5", now: "2026-11-22T12:00:00Z", want: 3 * day}, // a Sunday
		{schedule: "30 2 * * 1-5", now: "2026-11-23T02:31:00Z", want: 3 * day}, // Monday's was due a minute ago
		{schedule: "30 2 * * 1-5", now: "2026-11-24T02:31:00Z", want: day},
		{schedule: "@monthly", now: "2026-11-24T12:00:00Z", want: 31 * day},
		{schedule: "0 0 1 1 *", now: "2026-11-24T12:00:00Z", want: 365 * day},
	} {
		parsed, problem := backup.ParseSchedule(c.schedule, "", c.every, at(c.now))
		if problem != nil {
			t.Fatal(problem)
		}
		if got := backup.Interval(parsed, at(c.now)); got != c.want {
			t.Errorf("%q at %s: %s, want %s", c.schedule, c.now, got, c.want)
		}
	}
}

// TestLapsed is what the alert EtcdBackupStale says: more than two intervals.
func TestLapsed(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		since    time.Time
		interval time.Duration
		want     bool
	}{
		{noon.Add(-2 * time.Hour), time.Hour, false},
		{noon.Add(-2*time.Hour - time.Second), time.Hour, true},
		{noon.Add(-1000 * time.Hour), 0, false}, // none is due any more
		{noon.Add(time.Hour), time.Hour, false}, // by a clock that was ahead
	} {
		if got := backup.Lapsed(c.since, c.interval, noon); got != c.want {
			t.Errorf("since %s, every %s: %t", c.since, c.interval, got)
		}
	}
}
