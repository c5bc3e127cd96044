package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestLargeDefragment defragments databases of which 1 GiB is in use, and says how long a client was without a write, beside how long it was when the
// leader handed over and nothing else happened: members are defragmented while they serve nobody, so the one should be about as long as the other.
func TestLargeDefragment(t *testing.T) {
	t.Parallel()
	quota := resource.MustParse("1450Mi")
	spec := roomy()
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("4Gi")
	spec.Etcd = &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}
	s := begin(t, "large-defragment", spec)
	s.settled()
	s.large(1200)
	s.givesUp(150)
	s.client()
	handedOver := s.handOver()
	s.edited(v1beta2.AutopilotOn)
	s.look("fragmented")
	must(t, harness.Await(t.Context(), "all members are defragmented", 2*limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSize < 1100<<20 })
	}))
	s.settled()
	gap := s.report("a client saw").LongestGapMS
	s.measures("1 GiB defragmented in each member: longest time without a write, and that of one hand-over", fmt.Sprintf("%d ms, %d ms", gap, handedOver))
	t.Logf("the operator says: %s", strings.Join(s.said(v1beta2.ReasonDefragmenting), "; "))
}

// TestLargeRecovery loses two of three members with 1 GiB of data for good, not the leader, under a client at work: nothing that was acknowledged
// is lost, and the cluster takes writes within a minute of the confirmation.
func TestLargeRecovery(t *testing.T) {
	t.Parallel()
	spec := onVolumes(3)
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("4Gi")
	s := begin(t, "large-recovery", spec)
	s.settled()
	s.large(1024)
	s.client()
	s.losesMajority(true)
	p := s.planned(func(p *v1beta2.RecoveryPlan) bool { return len(p.Lost) == 2 })
	start := time.Now()
	s.confirms(p.Hash)
	took := s.writesAgain(start)
	s.measures("1 GiB recovered, from the confirmation until a write is taken", fmt.Sprintf("%.1f s", took.Seconds()))
	s.restored(s.Name + "-recover-" + p.Hash)
	s.has("large", 1024)
	s.report("a client saw")
}

// handOver has another member lead, and returns for how many milliseconds the client was without a write.
func (s *story) handOver() int64 {
	s.t.Helper()
	to := s.followerPod()
	s.report("before another member leads")
	s.elects(to.Name)
	s.moreReads()
	return s.report("another member leads").LongestGapMS
}

// large writes so many MiB that stay in use.
func (s *story) large(mebi int) {
	s.t.Helper()
	for i := range mebi {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("large/%04d", i), strings.Repeat("x", 1<<20))
			return err
		}))
	}
}

// givesUp deletes so many of those MiB, with their history.
func (s *story) givesUp(mebi int) {
	s.t.Helper()
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		gone, err := etcd.Delete(ctx, "large/0000", clientv3.WithRange(fmt.Sprintf("large/%04d", mebi)))
		if err != nil {
			return err
		}
		_, err = etcd.Compact(ctx, gone.Header.Revision) // it takes longer than anybody waits for an answer
		return err
	}))
	s.puts("counted", 10) // etcd counts free pages when it commits
	must(s.t, harness.Await(s.t.Context(), "free pages", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSizeInUse < a.DbSize-int64(mebi)<<19 })
	}))
}
