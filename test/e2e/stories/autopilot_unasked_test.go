package stories

import (
	"context"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// How many MiB are written to which quota: so much that the file has more than four fifths of it, and that the quota is not reached. In a database of
// slowSize, of which a quarter is deleted, a member would pause for more than the 2 s that it may without a window, by 50Mi a second as long as no
// defragmentation was measured; what is in use then is less than four fifths of the quota, so that need not be raised.
const (
	quickSize, quickQuota = 60, "72Mi"
	slowSize, slowQuota   = 145, "176Mi"
	slowest               = 2 * 50 << 20
)

// TestDefragmentWithoutWindow is of clusters without a maintenance window: a member that is expected to pause for a moment is defragmented, and one that
// is expected to pause for longer waits for a window.
func TestDefragmentWithoutWindow(t *testing.T) {
	t.Parallel()
	t.Run("a moment", func(t *testing.T) {
		t.Parallel()
		editions(t, defragmentsInAMoment)
	})
	t.Run("longer", func(t *testing.T) {
		t.Parallel()
		editions(t, wouldPauseForLonger)
	})
}

func defragmentsInAMoment(t *testing.T, etcd edition) {
	s := etcd.begin(t, "no-window", windowless(quickQuota))
	s.settled()
	s.keepsKeys(quickSize)
	s.deletes(quickSize, 1, 6) // 1 to 5, and 10 to 59
	s.client()
	s.letAct()
	s.tidied(quickSize)
	s.settled()
	s.defragmentedOnce()
	s.report("a client saw")
}

func wouldPauseForLonger(t *testing.T, etcd edition) {
	s := etcd.begin(t, "would-pause", windowless(slowQuota))
	s.settled()
	s.keepsKeys(slowSize)
	s.deletes(slowSize, 2, 5) // 2 to 4, and 20 to 49
	must(t, harness.Await(t.Context(), "free pages beside what is in use", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool {
			return a.DbSizeInUse > slowest && a.DbSizeInUse < 125<<20 && a.DbSize > 141<<20 && a.DbSize-a.DbSizeInUse > a.DbSize/10
		})
	}))
	s.client()
	s.letAct()
	s.isHeld("defragment", v1beta2.ReasonWaitingForWindow, "would have a member pause for more than 2s")
	s.never("a member is defragmented without a window", shutFor, func(context.Context) (bool, error) {
		return len(s.said(v1beta2.ReasonDefragmenting)) > 0, nil
	})
	s.unsaid(v1beta2.ReasonRaisingQuota)
	s.toldOnce(v1beta2.ReasonWaitingForWindow)
	s.report("a client saw")
}

// windowless is a cluster with that quota and no window, in which nothing is done before it is let act.
func windowless(quota string) v1beta2.EtcdClusterSpec {
	bytes, spec := resource.MustParse(quota), onVolumes(3)
	spec.Etcd = &v1beta2.EtcdOptions{QuotaBackendBytes: &bytes}
	spec.Autopilot = &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff}
	return spec
}

// deletes deletes some of the MiB that keepsKeys has written of so many, by the first digit of their numbers, and their history.
func (s *story) deletes(mebi, from, to int) {
	s.t.Helper()
	key := func(digit int) string { return fmt.Sprintf("kept/%d/%d", mebi, digit) }
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		gone, err := etcd.Delete(ctx, key(from), clientv3.WithRange(key(to)))
		if err == nil {
			_, err = etcd.Compact(ctx, gone.Header.Revision, clientv3.WithCompactPhysical())
		}
		return err
	}))
	s.puts("counted", 10) // etcd counts free pages when it commits
}

// letAct switches Auto Pilot on, and has the operator look.
func (s *story) letAct() {
	s.t.Helper()
	s.looks(func(spec *v1beta2.EtcdClusterSpec) { spec.Autopilot.Mode = v1beta2.AutopilotOn })
}
