package anomaly

import (
	"math"
	"testing"
)

// TestRounded keeps what is known to 0.4 %, and what is not unknown.
func TestRounded(t *testing.T) {
	t.Parallel()
	for _, v := range []float32{0, 1, 0.0001, 0.00317, 12.34, 16 << 10, -5e9, 1e12, 3e-30} {
		r := round(Values{Apply: v})
		if got := r.of(Apply); math.Abs(float64(got-v)) > 0.004*math.Abs(float64(v)) {
			t.Errorf("%v becomes %v", v, got)
		}
		if r.of(Flush) != 0 {
			t.Errorf("another signal becomes %v", r.of(Flush))
		}
	}
	r := round(Nothing())
	for s := range Signals {
		if !math.IsNaN(float64(r.of(s))) {
			t.Errorf("what is not known becomes %v", r.of(s))
		}
	}
}
