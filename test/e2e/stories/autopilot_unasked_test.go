package stories

import (
	"context"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// How many MiB stay in use where a member would pause for more than the 2 s that it may without a window, by 50Mi a second as long as no
// defragmentation was measured; how many are written and given up beside that; and a quota of which that is more than four fifths of the file, and
// less than four fifths in use, so that the quota need not be raised.
const (
	keptSize, givenUpSize = 110, 30
	slowQuota             = "160Mi"
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
	s := etcd.begin(t, "no-window", windowless("64Mi"))
	s.settled()
	s.fragments(wastedSize)
	s.client()
	s.letAct()
	s.tidied(wastedSize)
	s.settled()
	s.defragmentedOnce()
	s.report("a client saw")
}

func wouldPauseForLonger(t *testing.T, etcd edition) {
	s := etcd.begin(t, "would-pause", windowless(slowQuota))
	s.settled()
	s.keepsKeys(keptSize)
	s.overwrites(givenUpSize)
	s.compact()
	s.puts("counted", 10) // etcd counts free pages when it commits
	must(t, harness.Await(t.Context(), "free pages beside what is in use", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool {
			return a.DbSizeInUse > keptSize<<20 && a.DbSizeInUse < 125<<20 && a.DbSize > 130<<20 && a.DbSize-a.DbSizeInUse > a.DbSize/10
		})
	}))
	s.client()
	s.letAct()
	s.isHeld("defragment", v1beta2.ReasonWaitingForWindow, "would have a member pause for more than 2s")
	s.never("a member is defragmented without a window", shutFor, func(context.Context) bool {
		return len(s.said(v1beta2.ReasonDefragmenting)) > 0
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

// letAct switches Auto Pilot on, and has the operator look.
func (s *story) letAct() {
	s.t.Helper()
	s.looks(func(spec *v1beta2.EtcdClusterSpec) { spec.Autopilot.Mode = v1beta2.AutopilotOn })
}
