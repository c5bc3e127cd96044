package anomaly

import (
	"math"
	"testing"
)

// TestProbesBeyondCounting: whoever claims more probes than an hour has room for has taken that many, and not a few.
func TestProbesBeyondCounting(t *testing.T) {
	t.Parallel()
	const last = len(Buckets{}) - 1
	for _, claimed := range []uint32{math.MaxUint16 - 1, math.MaxUint16, math.MaxUint16 + 1, math.MaxUint32} {
		a := along{}
		for range 2 {
			a.add(Probes{Took: Buckets{last: claimed}, Sum: 1})
		}
		if a.took[last] != math.MaxUint16 || a.sum != 2 {
			t.Errorf("twice %d: %d in %v s", claimed, a.took[last], a.sum)
		}
	}
}
