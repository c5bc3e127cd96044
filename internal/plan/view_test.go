package plan

import "testing"

// TestLeaderOf is whom most of those name who know a leader.
func TestLeaderOf(t *testing.T) {
	for title, c := range map[string]struct {
		reported []uint64
		want     uint64
	}{
		"nobody answers":               {nil, 0},
		"nobody knows one":             {[]uint64{0, 0, 0}, 0},
		"all agree":                    {[]uint64{7, 7, 7}, 7},
		"one is cut off":               {[]uint64{9, 7, 7}, 7},
		"one knows, and most know not": {[]uint64{0, 7, 0}, 7},
		"as often: the first one":      {[]uint64{9, 7, 7, 9}, 9},
		"as often, with a lower ID":    {[]uint64{7, 9, 0}, 7},
	} {
		if got := LeaderOf(c.reported); got != c.want {
			t.Errorf("%s: %d leads, want %d", title, got, c.want)
		}
	}
}
