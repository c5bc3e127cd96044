package backup

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func TestParseSchedule(t *testing.T) {
	const hour = time.Hour
	for title, c := range map[string]struct {
		expression, zone string
		interval         time.Duration
		// next is the first time after noon, problem what the message holds if it is refused.
		next    time.Time
		problem string
	}{
		"an interval":          {"", "", hour, at(hour), ""},
		"cron, in UTC":         {"30 13 * * *", "", 0, at(90 * time.Minute), ""},
		"cron, elsewhere":      {"30 13 * * *", "Europe/Berlin", 0, at(30 * time.Minute), ""},
		"a word":               {"@daily", "", 0, at(12 * hour), ""},
		"a word, elsewhere":    {"@daily", "Asia/Tokyo", 0, at(3 * hour), ""},
		"a word with a time":   {"@every 90m", "", 0, at(90 * time.Minute), ""},
		"six fields":           {"0 30 13 * * *", "", 0, time.Time{}, "spec.schedule"},
		"no words":             {"nightly", "", 0, time.Time{}, "@daily"},
		"no such day":          {"0 0 30 2 *", "", 0, time.Time{}, "no such day"},
		"a time below zero":    {"@every -1h", "", 0, time.Time{}, "a second or more"},
		"the zone in it":       {"CRON_TZ=Europe/Berlin 30 2 * * *", "", 0, time.Time{}, "spec.timeZone"},
		"the zone in it alone": {"TZ=0", "", 0, time.Time{}, "spec.timeZone"},
		"no such zone":         {"30 2 * * *", "Europe/Berln", 0, time.Time{}, `"Europe/Berln"`},
		"the machine's zone":   {"30 2 * * *", "Local", 0, time.Time{}, "IANA"},
	} {
		t.Run(title, func(t *testing.T) {
			s, problem := ParseSchedule(c.expression, c.zone, c.interval, noon)
			switch {
			case c.problem != "" && (problem == nil || !strings.Contains(problem.Message, c.problem)):
				t.Fatalf("%v, want one with %q", problem, c.problem)
			case c.problem == "" && problem != nil:
				t.Fatalf("refused: %v", problem)
			case c.problem == "" && !s.Next(noon).Equal(c.next):
				t.Errorf("next %s, want %s", s.Next(noon).UTC(), c.next)
			}
		})
	}
	if s, problem := ParseSchedule("", "", 0, noon); s != nil || problem != nil {
		t.Errorf("once: %v, %v", s, problem)
	}
}

// TestSummerTime knows of no backup in an hour that summer time leaves out, and of two in one that comes twice: so says the
// API.
func TestSummerTime(t *testing.T) {
	s, problem := ParseSchedule("30 2 * * *", "Europe/Berlin", 0, noon)
	if problem != nil {
		t.Fatal(problem)
	}
	for title, c := range map[string]struct{ after, want time.Time }{
		"out": {time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), time.Date(2026, 3, 30, 0, 30, 0, 0, time.UTC)},
		"in":  {time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)},
	} {
		if got := s.Next(c.after); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", title, got.UTC(), c.want)
		}
	}
	once := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
	if got, want := s.Next(once), once.Add(time.Hour); !got.Equal(want) {
		t.Errorf("half past two comes twice: %s, want %s", got.UTC(), want)
	}
}

func TestOverlaps(t *testing.T) {
	type place struct{ url, endpoint, claim, object string }
	of := func(p place) Place {
		return PlaceOf(v1beta2.Storage{URL: p.url, Endpoint: p.endpoint, PersistentVolumeClaim: p.claim}, p.object)
	}
	for title, c := range map[string]struct {
		a, b place
		want bool
	}{
		"own names have the writer's tag": {place{url: "s3://b/a"}, place{url: "s3://b/a/"}, false},
		"a bucket and a folder":           {place{url: "s3://b"}, place{url: "s3://b/a"}, false},
		"legacy, one key":                 {place{url: "s3://b/a", object: "x"}, place{url: "s3://b/a/", object: "x"}, true},
		"legacy, other keys":              {place{url: "s3://b/", object: "x"}, place{url: "s3://b/", object: "y"}, false},
		"legacy, one in another":          {place{url: "s3://b/", object: "x"}, place{url: "s3://b/", object: "x-y"}, true},
		"legacy, and own names":           {place{url: "s3://b/a", object: "x"}, place{url: "s3://b/a"}, false},
		"other folders":                   {place{url: "s3://b/a", object: "x"}, place{url: "s3://b/ab", object: "x"}, false},
		"other buckets":                   {place{url: "s3://b/a", object: "x"}, place{url: "s3://c/a", object: "x"}, false},
		"other clouds":                    {place{url: "s3://b/a", object: "x"}, place{url: "gs://b/a", object: "x"}, false},
		"other services":                  {place{url: "s3://b", endpoint: "https://x", object: "x"}, place{url: "s3://b", object: "x"}, false},
		"a service in two ways": {
			place{url: "s3://b", endpoint: "https://X:443/", object: "x"}, place{url: "s3://b", endpoint: "https://x", object: "x"}, true,
		},
		"one claim":  {place{url: "file:///a", claim: "c"}, place{url: "file:///", claim: "c"}, true},
		"two claims": {place{url: "file:///a", claim: "c"}, place{url: "file:///a", claim: "d"}, false},
	} {
		t.Run(title, func(t *testing.T) {
			if a, b := of(c.a), of(c.b); a.Overlaps(b) != c.want || b.Overlaps(a) != c.want {
				t.Errorf("%+v and %+v: want %v both ways", a, b, c.want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	for title, c := range map[string]struct {
		run  *Run
		want bool
	}{
		"none":                         {nil, false},
		"at work":                      {&Run{Started: at(-time.Hour)}, true},
		"between two tries":            {&Run{Started: at(-time.Hour), RetryAfter: noon}, false},
		"for longer than it may":       {&Run{Started: at(-7 * time.Hour)}, false},
		"since the clock was set back": {&Run{Started: at(time.Hour)}, true},
	} {
		if got := c.run.Holds(noon); got != c.want {
			t.Errorf("%s: got %v", title, got)
		}
	}
}

func TestPodName(t *testing.T) {
	run := Run{Task: TaskBackup, Due: noon, Attempt: 2}
	if got, want := PodName("nightly", run), "nightly-backup-t88k00-2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	clean := run
	clean.Task = TaskClean
	later := run
	later.Due = at(time.Second)
	long, other := strings.Repeat("a.", 31), strings.Repeat("a.", 30)+"b"
	names := map[string]bool{}
	for _, owner := range []string{"nightly", long, other} {
		for _, r := range []Run{run, clean, later} {
			name := PodName(owner, r)
			if len(name) > 63 || strings.Contains(name, ".-") {
				t.Errorf("%s has %d characters", name, len(name))
			}
			names[name] = true
		}
	}
	if len(names) != 9 {
		t.Errorf("names are not unique: %v", names)
	}
}
