package etcd

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestSamplesAreForgotten of a cluster that is gone at once, and of one that nobody has asked for a day when it is looked at next.
func TestSamplesAreForgotten(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	for title, c := range map[string]struct {
		read, looked time.Time
		gone, known  bool
	}{
		"sampled":                   {read: ago(0), known: true},
		"deleted":                   {read: ago(0), gone: true},
		"hibernates for a night":    {read: ago(12 * time.Hour), looked: ago(100 * time.Hour), known: true},
		"hibernates for two days":   {read: ago(48 * time.Hour), looked: ago(100 * time.Hour)},
		"left alone for two days":   {read: ago(anomaly.Day + time.Minute)},
		"without metrics until now": {looked: ago(time.Hour), known: true},
	} {
		p := NewPool()
		s := p.sampler("c", 7)
		s.read, s.looked = c.read, c.looked
		if c.gone {
			p.Forget("c")
		}
		if p.Observe(t.Context(), "c", nil, plan.Electorate{}, nil); (p.samplers["c"] == s) != c.known {
			t.Errorf("%s: what is known of it is %v", title, p.samplers["c"])
		}
	}
}
