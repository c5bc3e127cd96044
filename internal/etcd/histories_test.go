package etcd_test

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestHistoriesWithoutOne goes on sampling the disks of those that answer while one does not, and tells of none that has not been sampled lately.
func TestHistoriesWithoutOne(t *testing.T) {
	w := newComparedWorld(t, 3)
	w.pool.SampleEvery = 100 * time.Millisecond
	looks := func() (all []plan.DiskHistory) {
		s := w.pool.Observe(t.Context(), t.Name(), nil, voting(w.id, w.endpoints), w.endpoints)
		w.pool.Compare(t.Context(), t.Name(), s)
		return w.pool.Histories(t.Name(), s)
	}
	sampled := func(members, samples int) func() bool {
		return func() bool {
			all := looks()
			for _, h := range all {
				if h.Samples < samples {
					return false
				}
			}
			return len(all) == members
		}
	}
	eventually(t, "all are sampled", sampled(3, 2))
	w.members[2].stop()
	eventually(t, "two are", sampled(2, 5))

	s := w.pool.Observe(t.Context(), t.Name(), nil, voting(w.id, w.endpoints), w.endpoints)
	w.pool.SampleEvery = time.Nanosecond // so that the last samples are of long ago
	if old := w.pool.Histories(t.Name(), s); len(old) != 0 {
		t.Errorf("of long ago: %+v", old)
	}
}
