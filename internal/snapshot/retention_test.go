package snapshot

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// noon is a Friday.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(ago time.Duration, revision int64) Manifest {
	return Manifest{
		Object: fmt.Sprint(revision), TakenAt: noon.Add(-ago), Revision: revision, Writer: task.Writer{UID: uid},
	}
}

// anew is one of a cluster that was recreated.
func anew(m Manifest) Manifest {
	m.Cluster.ID = "anew"
	return m
}

// every makes n snapshots, the latest now with the highest revision, n.
func every(interval time.Duration, n int) []Manifest {
	var all []Manifest
	for i := range n {
		all = append(all, at(time.Duration(i)*interval, int64(n-i)))
	}
	return all
}

func kept(all []Manifest, p task.Policy) []int64 {
	var rest []int64
	expired := Expired(all, p, uid, noon)
	for _, m := range all {
		if !slices.Contains(expired, m) {
			rest = append(rest, m.Revision)
		}
	}
	return rest
}

func TestExpired(t *testing.T) {
	const day = 24 * time.Hour
	theirs := at(0, 99)
	theirs.Writer.UID = "another"
	for title, c := range map[string]struct {
		all  []Manifest
		p    task.Policy
		kept []int64
	}{
		"none":                    {nil, task.Policy{Last: 1}, nil},
		"all":                     {every(time.Hour, 3), task.Policy{}, []int64{3, 2, 1}},
		"the last two":            {every(time.Hour, 4), task.Policy{Last: 2}, []int64{4, 3}},
		"fewer than asked for":    {every(time.Hour, 2), task.Policy{Last: 5}, []int64{2, 1}},
		"as numbers, not as text": {[]Manifest{at(0, 10), at(0, 9), at(0, 100)}, task.Policy{Last: 1}, []int64{100}},
		"in no order":             {[]Manifest{at(day, 1), at(0, 3), at(time.Hour, 2)}, task.Policy{Last: 2}, []int64{3, 2}},
		"the times went back":     {[]Manifest{at(0, 5), at(day, 1000)}, task.Policy{Last: 1}, []int64{1000}},
		"a clock in the future":   {[]Manifest{at(-day, 1), at(0, 9), at(time.Hour, 8)}, task.Policy{Last: 2}, []int64{9, 8}},
		"each lineage for itself": {
			[]Manifest{anew(at(0, 4)), anew(at(time.Hour, 3)), anew(at(2*time.Hour, 2)), at(50*day, 900), at(51*day, 800), at(52*day, 700)},
			task.Policy{Last: 2},
			[]int64{4, 3, 900, 800},
		},
		"an old lineage is too old, and one stays": {
			[]Manifest{anew(at(0, 4)), at(50*day, 900), at(51*day, 800)}, task.Policy{Last: 5, MaxAge: 2 * day}, []int64{4, 900},
		},
		"without a quorum they displace nothing": {
			[]Manifest{stale(at(0, 9)), stale(at(time.Hour, 8)), stale(at(2*time.Hour, 7)), at(day, 6), at(2*day, 5), at(3*day, 4)},
			task.Policy{Last: 2},
			[]int64{9, 8, 6, 5},
		},
		"without a quorum, and another one has as much": {
			[]Manifest{at(0, 9), stale(at(time.Hour, 9)), stale(at(2*time.Hour, 8)), at(day, 6)}, task.Policy{Last: 3}, []int64{9, 6},
		},
		"without a quorum, and all are kept": {[]Manifest{at(0, 9), stale(at(time.Hour, 8))}, task.Policy{}, []int64{9, 8}},
		"without a quorum, and too old": {
			[]Manifest{stale(at(5*day, 9)), stale(at(6*day, 8)), at(7*day, 7), at(8*day, 6), stale(at(9*day, 5))}, task.Policy{MaxAge: day}, []int64{9, 7},
		},
		"not another's":                   {[]Manifest{theirs, at(time.Hour, 2), at(day, 1)}, task.Policy{Last: 1}, []int64{99, 2}},
		"too old":                         {every(day, 5), task.Policy{MaxAge: 2 * day}, []int64{5, 4, 3}},
		"all too old, and one stays":      {[]Manifest{at(50*day, 2), at(60*day, 1)}, task.Policy{MaxAge: day}, []int64{2}},
		"too old although it is wanted":   {every(day, 5), task.Policy{Last: 5, MaxAge: day}, []int64{5, 4}},
		"taken in the future":             {[]Manifest{at(-day, 2), at(0, 1)}, task.Policy{MaxAge: time.Hour}, []int64{2, 1}},
		"the latest of three days":        {every(6*time.Hour, 12), task.Policy{Last: 1, Daily: 3}, []int64{12, 9, 5}},
		"of two hours":                    {every(20*time.Minute, 6), task.Policy{Last: 1, Hourly: 2}, []int64{6, 5}},
		"all of the day that is not over": {every(3*time.Hour, 20), task.Policy{Daily: 3}, []int64{20, 19, 18, 17, 16, 15, 7}},
		"a day that has just begun":       {[]Manifest{at(-12*time.Hour, 9), at(0, 8), at(time.Hour, 7)}, task.Policy{Daily: 7}, []int64{9, 8}},
		"all of the shortest period": {
			[]Manifest{at(-40*time.Minute, 4), at(-20*time.Minute, 3), at(0, 2), at(20*time.Minute, 1)}, task.Policy{Hourly: 1, Monthly: 2}, []int64{4, 3, 2},
		},
		"all of a week":                      {every(day, 8), task.Policy{Weekly: 2}, []int64{8, 7, 6, 5, 4, 3}},
		"all of the month, unless too old":   {every(12*time.Hour, 4), task.Policy{Monthly: 1, MaxAge: day}, []int64{4, 3, 2}},
		"days that have none do not count":   {[]Manifest{at(0, 3), at(10*day, 2), at(20*day, 1)}, task.Policy{Daily: 2}, []int64{3, 2}},
		"weeks begin on Mondays":             {every(day, 8), task.Policy{Last: 1, Weekly: 2}, []int64{8, 3}},
		"months":                             {every(day, 5), task.Policy{Last: 1, Monthly: 2}, []int64{5, 3}},
		"the last, and days, and months too": {every(12*time.Hour, 10), task.Policy{Last: 3, Daily: 2, Monthly: 3}, []int64{10, 9, 8, 6}},
	} {
		t.Run(title, func(t *testing.T) {
			if got := kept(c.all, c.p); !slices.Equal(got, c.kept) {
				t.Errorf("kept %v, want %v", got, c.kept)
			}
		})
	}
	if got := Expired(every(time.Hour, 3), task.Policy{Last: 1}, "", noon); len(got) > 0 {
		t.Errorf("without a UID everything is somebody's: %v", got)
	}
}

// TestExpiredAlways holds in every case.
func TestExpiredAlways(t *testing.T) {
	count := rapid.IntRange(0, 4)
	rapid.Check(t, func(t *rapid.T) {
		var all []Manifest
		for i := range rapid.IntRange(0, 30).Draw(t, "snapshots") {
			m := at(time.Duration(rapid.Int64Range(-1000, 100_000).Draw(t, "minutes"))*time.Minute, int64(i))
			m.Cluster.ID = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "cluster")
			m.Stale = rapid.Bool().Draw(t, "stale")
			m.Writer.UID = rapid.SampledFrom([]string{uid, "another", ""}).Draw(t, "writer")
			all = append(all, m)
		}
		p := task.Policy{
			Last: count.Draw(t, "last"), Hourly: count.Draw(t, "hourly"), Daily: count.Draw(t, "daily"),
			Weekly: count.Draw(t, "weekly"), Monthly: count.Draw(t, "monthly"),
			MaxAge: time.Duration(rapid.Int64Range(0, 10_000).Draw(t, "age")) * time.Minute,
		}
		expired := Expired(all, p, uid, noon)
		var own, rest []Manifest
		for _, m := range all {
			if m.Writer.UID == uid {
				own = append(own, m)
			}
			if !slices.Contains(expired, m) {
				rest = append(rest, m)
			}
		}
		for _, m := range expired {
			if m.Writer.UID != uid {
				t.Fatalf("%v is another's", m)
			}
		}
		for _, l := range Lineages(own) {
			quorum := slices.IndexFunc(l.Snapshots, func(m Manifest) bool { return !m.Stale })
			if slices.Contains(expired, l.Snapshots[0]) || quorum >= 0 && slices.Contains(expired, l.Snapshots[quorum]) {
				t.Fatalf("the latest of %s is gone", l.Cluster.ID)
			}
		}
		if again := Expired(rest, p, uid, noon); len(again) > 0 {
			t.Fatalf("what was kept is not kept again: %v", again)
		}
		shuffled := rapid.Permutation(all).Draw(t, "order")
		if !slices.Equal(expired, Expired(shuffled, p, uid, noon)) {
			t.Fatal("it depends on the order")
		}
	})
}

func TestLeftovers(t *testing.T) {
	own := Name(7, noon, uid, Encoding{Compress: true})
	orphans := []Orphan{
		{Name: own, Changed: noon.Add(-25 * time.Hour)},
		{Name: Name(8, noon, uid, Encoding{}), Changed: noon.Add(-time.Hour)}, // its manifest may be on its way
		{Name: Name(9, noon, "another", Encoding{}), Changed: noon.Add(-25 * time.Hour)},
		{Name: "key_v7_2026-01-02-03:04:05", Changed: noon.Add(-25 * time.Hour)},
		{Name: own + ".mine", Changed: noon.Add(-25 * time.Hour)},
	}
	if got := Leftovers(orphans, uid, noon); !slices.Equal(got, []string{own}) {
		t.Errorf("got %v", got)
	}
	if got := Leftovers(orphans, "", noon); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
