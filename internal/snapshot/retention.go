package snapshot

import (
	"cmp"
	"slices"
	"time"
)

// Policy says which snapshots are kept. The zero value keeps all.
//
// A snapshot is kept if it is among the latest Last, or the latest of one of the latest Hourly hours, Daily days, Weekly
// weeks (from Monday) or Monthly months, in UTC, that have one; or if none of these numbers is set. It goes once it is
// older than MaxAge whatever else wants it, unless that is 0. The latest one is always kept.
type Policy struct {
	Last, Hourly, Daily, Weekly, Monthly int
	MaxAge                               time.Duration
}

// Expired returns which of these snapshots are to be deleted, the oldest first. Only those count, and are returned, whose
// manifests say that this writer has written them.
func Expired(snapshots []Manifest, p Policy, writerUID string, now time.Time) []Manifest {
	own := slices.DeleteFunc(slices.Clone(snapshots), func(m Manifest) bool {
		return writerUID == "" || m.Writer.UID != writerUID
	})
	slices.SortFunc(own, newestFirst)
	keep := p.wanted(own)
	var expired []Manifest
	for i, m := range own {
		tooOld := p.MaxAge > 0 && now.Sub(m.TakenAt) > p.MaxAge
		if i > 0 && (tooOld || !keep[i]) {
			expired = append(expired, m)
		}
	}
	slices.Reverse(expired)
	return expired
}

// newestFirst sorts by time, and within the same moment by revision: a restore may set the revision back. The name only
// makes the order the same each time.
func newestFirst(a, b Manifest) int {
	return cmp.Or(b.TakenAt.Compare(a.TakenAt), cmp.Compare(b.Revision, a.Revision),
		cmp.Compare(b.Object, a.Object))
}

// wanted tells, by index, which of the snapshots, sorted by newestFirst, a number asks for.
func (p Policy) wanted(own []Manifest) map[int]bool {
	keep := map[int]bool{}
	periods := []struct {
		count int
		of    func(time.Time) string
	}{
		{p.Hourly, hour}, {p.Daily, day}, {p.Weekly, week}, {p.Monthly, month},
	}
	all := p.Last <= 0 && p.Hourly <= 0 && p.Daily <= 0 && p.Weekly <= 0 && p.Monthly <= 0
	for i := range own {
		keep[i] = all || i < p.Last
	}
	for _, period := range periods {
		seen := map[string]bool{}
		for i, m := range own {
			name := period.of(m.TakenAt.UTC())
			if !seen[name] && len(seen) < period.count {
				seen[name], keep[i] = true, true
			}
		}
	}
	return keep
}

func hour(t time.Time) string  { return t.Format("2006-01-02 15") }
func day(t time.Time) string   { return t.Format(time.DateOnly) }
func month(t time.Time) string { return t.Format("2006-01") }

// week is named by its Monday.
func week(t time.Time) string {
	sinceMonday := (int(t.Weekday()) + 6) % 7
	return t.AddDate(0, 0, -sinceMonday).Format(time.DateOnly)
}

// leftoverAge is how old an object without a manifest must be. It gets one within seconds, or never.
const leftoverAge = 24 * time.Hour

// Leftovers returns the names of the objects that this writer has begun and never finished, or begun to delete. They are
// no backups. Only names as Name makes them, with the writer's own tag, are returned.
func Leftovers(strays []Stray, writerUID string, now time.Time) []string {
	var names []string
	for _, s := range strays {
		parts := name.FindStringSubmatch(s.Name)
		if parts != nil && writerUID != "" && parts[1] == tag(writerUID) && now.Sub(s.Changed) > leftoverAge {
			names = append(names, s.Name)
		}
	}
	return names
}
