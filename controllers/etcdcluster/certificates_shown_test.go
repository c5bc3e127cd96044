package etcdcluster

import (
	"slices"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// TestExportedExpiry has authorities expire beside what they have issued.
func TestExportedExpiry(t *testing.T) {
	got := firstToExpire("c", []certificates.Info{
		{Name: "c-0-tls", Use: "peer", NotAfter: noon.Add(time.Hour)},
		{Name: "c-1-tls", Use: "peer", NotAfter: noon},
		{Name: "c-ca", Use: "peer", NotAfter: noon.Add(2 * time.Hour)},
	})
	want := []metrics.Expiry{{Use: "peer", At: noon}, {Use: "peer-ca", At: noon.Add(2 * time.Hour)}}
	if !slices.Equal(got, want) {
		t.Errorf("exported is %v", got)
	}
}
