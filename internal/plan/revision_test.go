package plan

import (
	"math"
	"testing"
)

func TestRevisionFloor(t *testing.T) {
	for _, c := range []struct {
		recorded int64
		others   []int64
		want     int64
	}{
		{0, nil, 0},
		{0, []int64{0, -3}, 0},
		{0, []int64{5, 9, 7}, 9},
		{5000, nil, 6000}, // 5999 would not have been recorded
		{5000, []int64{6001}, 6001},
		{100_000, []int64{100_001}, 110_000},
		{6_000_000_000, nil, 6_010_000_000}, // or each restore would raise the revision by a tenth
		{math.MaxInt64, nil, math.MaxInt64},
	} {
		if got := RevisionFloor(c.recorded, c.others...); got != c.want {
			t.Errorf("of %d and %v: %d, not %d", c.recorded, c.others, got, c.want)
		}
	}
}
