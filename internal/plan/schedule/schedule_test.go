package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan/schedule"
)

var (
	noon   = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) // a Tuesday
	fields = schedule.Fields{Schedule: "spec.when", TimeZone: "spec.where"}
)

func parse(t *testing.T, expression, zone string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(expression, zone, fields, noon)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestParseNamesTheField wants an error to say which field is wrong, and what to write there.
func TestParseNamesTheField(t *testing.T) {
	for _, c := range []struct{ expression, zone, want string }{
		{"0 2 * *", "", `spec.when "0 2 * *"`},
		{"0 0 30 2 *", "", `spec.when "0 0 30 2 *": there is no such day`},
		{"TZ=UTC 0 2 * * *", "", "name the time zone in spec.where"},
		{"0 2 * * *", "Europe/Berln", `spec.where: "Europe/Berln" is no time zone: give one of the IANA database`},
		{"0 2 * * *", "Local", `spec.where: "Local"`},
	} {
		if _, err := schedule.Parse(c.expression, c.zone, fields, noon); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in %q: %v, want %q", c.expression, c.zone, err, c.want)
		}
	}
}

// TestLast compares it with counting every time since then.
func TestLast(t *testing.T) {
	const day = 24 * time.Hour
	for _, expression := range []string{"* * * * *", "0 2 * * *", "30 2 * * 0", "0 0 1 * *", "0 0 29 2 *", "0 12 * * *", "0-10 11 * * *", "@weekly"} {
		s := parse(t, expression, "Europe/Berlin")
		for _, since := range []time.Duration{time.Second, time.Minute, time.Hour, day, 3 * day, 40 * day, 400 * day} {
			want := time.Time{}
			for next := s.Next(noon.Add(-since)); !next.IsZero() && !next.After(noon); next = s.Next(next) {
				want = next
			}
			if got := schedule.Last(s, noon.Add(-since), noon); !got.Equal(want) {
				t.Errorf("%s since %s: %s, want %s", expression, since, got, want)
			}
		}
	}
}
