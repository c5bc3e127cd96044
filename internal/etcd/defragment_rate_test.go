package etcd

import (
	"slices"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const mebi = 1 << 20

// TestRateOf has the last defragmentation tell how fast the next one is, if it was one of enough data.
func TestRateOf(t *testing.T) {
	for title, c := range map[string]struct {
		known int64
		inUse int64
		took  time.Duration
		want  int64
	}{
		"the first":        {0, 100 * mebi, 2 * time.Second, 50 * mebi},
		"a slower one":     {50 * mebi, 100 * mebi, 10 * time.Second, 10 * mebi},
		"a faster one":     {10 * mebi, 100 * mebi, time.Second, 100 * mebi},
		"a small database": {50 * mebi, 63 * mebi, 10 * time.Second, 50 * mebi},
		"no time at all":   {50 * mebi, 100 * mebi, 100 * time.Hour, 291},
	} {
		if got := rateOf(c.known, size{inUse: c.inUse}, c.took); got != c.want {
			t.Errorf("%s: %d, want %d", title, got, c.want)
		}
	}
}

// TestVain counts defragmentations that have freed next to nothing.
func TestVain(t *testing.T) {
	before := size{file: 100 * mebi}
	if n := vain(2, before, size{file: 91 * mebi}); n != 3 {
		t.Errorf("less than a tenth: %d", n)
	}
	if n := vain(2, before, size{file: 90 * mebi}); n != 0 {
		t.Errorf("a tenth: %d", n)
	}
}

// TestClears looks until all members have told, at least once after evictions were blocked, but not for ever.
func TestClears(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	told, silent, busy := plan.Database{Known: true}, plan.Database{}, plan.Database{Known: true, Defragmenting: now}
	for title, c := range map[string]struct {
		apart time.Duration
		looks []plan.Database
		want  int
	}{
		"it is told":                             {0, []plan.Database{told}, clearLooks},
		"three looks in a moment":                {time.Second, []plan.Database{silent, silent, silent, silent}, 1},
		"three looks in three quarters":          {clearApart, []plan.Database{silent, silent, silent}, clearLooks},
		"silence, and a defragmentation":         {clearApart, []plan.Database{silent, silent, busy}, 0},
		"a defragmentation, and that it is over": {time.Second, []plan.Database{busy, told}, clearLooks},
	} {
		u := &upkeep{}
		for i, d := range c.looks {
			u.clears(true, slices.Concat([]plan.Database{told}, []plan.Database{d}), now.Add(time.Duration(i)*c.apart))
		}
		if u.looked != c.want {
			t.Errorf("%s: %d, want %d", title, u.looked, c.want)
		}
	}
}
