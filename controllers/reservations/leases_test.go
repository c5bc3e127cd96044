package reservations

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// TestLeasesAreForgotten has Leases matter and cease to: what is known of them must not grow forever.
func TestLeasesAreForgotten(t *testing.T) {
	var known leases
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	stays, goes := claim.Operator{Namespace: "a", Lease: LeaseName}, claim.Operator{Namespace: "b", Lease: LeaseName}
	first := known.of(stays, now)
	known.of(goes, now)
	for range 4 {
		now = now.Add(forgetAfter / 2)
		if known.of(stays, now) != first {
			t.Error("one that matters is forgotten")
		}
	}
	if len(known.all) != 1 {
		t.Errorf("%d are known", len(known.all))
	}
}
