package snapshot

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Expired returns which of these snapshots are to be deleted, the oldest of each lineage first. Only those count, and are
// returned, whose manifests say that this writer has written them.
func Expired(snapshots []Manifest, given task.Policy, writerUID string, now time.Time) []Manifest {
	own := slices.DeleteFunc(slices.Clone(snapshots), func(m Manifest) bool {
		return writerUID == "" || m.Writer.UID != writerUID
	})
	var expired []Manifest
	p := policy(given)
	for _, l := range Lineages(own) {
		var fresh, stale, covered []Manifest
		for _, m := range l.Snapshots { // the newest first
			switch {
			case !m.Stale:
				fresh = append(fresh, m)
			case len(fresh) == 0:
				stale = append(stale, m)
			default:
				covered = append(covered, m)
			}
		}
		gone := slices.Concat(p.expired(fresh, now), p.expired(stale, now), p.redundant(covered, now))
		slices.SortFunc(gone, newestFirst)
		slices.Reverse(gone)
		expired = append(expired, gone...)
	}
	return expired
}

// policy applies a task's policy.
type policy task.Policy

// expired applies the policy to snapshots of one lineage, the newest of which comes first and stays.
func (p policy) expired(own []Manifest, now time.Time) (expired []Manifest) {
	keep := p.wanted(own)
	for i, m := range own {
		if i > 0 && (p.tooOld(m, now) || !keep[i]) {
			expired = append(expired, m)
		}
	}
	return expired
}

// redundant are the stale snapshots that no number retains, because another one has at least their revision.
func (p policy) redundant(stale []Manifest, now time.Time) []Manifest {
	return slices.DeleteFunc(stale, func(m Manifest) bool { return p.all() && !p.tooOld(m, now) })
}

func (p policy) tooOld(m Manifest, now time.Time) bool {
	return p.MaxAge > 0 && now.Sub(m.TakenAt) > p.MaxAge
}

// all reports whether no number is set.
func (p policy) all() bool {
	return p.Last <= 0 && p.Hourly <= 0 && p.Daily <= 0 && p.Weekly <= 0 && p.Monthly <= 0
}

// wanted marks, by index, which of the snapshots, sorted by newestFirst, a number retains.
func (p policy) wanted(own []Manifest) map[int]bool {
	keep := map[int]bool{}
	periods := []struct {
		count int
		of    func(time.Time) string
	}{
		{p.Hourly, hour}, {p.Daily, day}, {p.Weekly, week}, {p.Monthly, month},
	}
	for i := range own {
		keep[i] = p.all() || i < p.Last
	}
	unlimited := p.Last <= 0
	for _, period := range periods {
		seen := map[string]bool{}
		for i, m := range own {
			name := period.of(m.TakenAt.UTC())
			if !seen[name] && len(seen) < period.count {
				seen[name], keep[i] = true, true
			}
			if unlimited && period.count > 0 && name == period.of(own[0].TakenAt.UTC()) {
				keep[i] = true
			}
		}
		unlimited = unlimited && period.count <= 0 // of the shortest one only
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

// Leftovers returns the names of the objects that this writer has started and never finished, or started to delete. They are not
// backups. Only names of Name's form, with the writer's own tag, are returned.
func Leftovers(orphans []Orphan, writerUID string, now time.Time) []string {
	var names []string
	for _, s := range orphans {
		if writtenBy(s.Name, writerUID) && now.Sub(s.Changed) > leftoverAge {
			names = append(names, s.Name)
		}
	}
	return names
}
