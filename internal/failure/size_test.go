package failure_test

import (
	"math"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestMebibytes rounds up, also what is as large as can be.
func TestMebibytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0Mi", 1: "1Mi", 1 << 20: "1Mi", 1<<20 + 1: "2Mi", 8 << 30: "8192Mi", math.MaxInt64: "8796093022208Mi",
	} {
		if got := failure.Mebibytes(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
