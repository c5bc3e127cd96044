package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestGrowQuota has keys fill a small quota: it is raised before etcd refuses a write, up to the maximum, and what is written to the spec counts
// from then on.
func TestGrowQuota(t *testing.T) {
	t.Parallel()
	most, spec := resource.MustParse("48Mi"), smallQuota("3.7.3")
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	spec.Autopilot = &v1beta2.AutopilotSpec{Quota: &v1beta2.QuotaAutopilot{Max: &most}}
	s := begin(t, "grow-quota", spec)
	s.settled()
	s.client()
	s.keepsKeys(0, 28)
	s.look("four fifths")
	s.quotas(48 << 20)
	s.settled()
	s.unsaid(v1beta2.ReasonNoSpace)
	s.keepsKeys(28, 41)
	s.look("four fifths of the maximum")
	s.isHeld("quota", v1beta2.ReasonQuotaHeld, "spec.autopilot.quota.max")
	quota := resource.MustParse("64Mi")
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Etcd.QuotaBackendBytes = &quota }))
	s.quotas(64 << 20)
	s.settled()
	s.unsaid(v1beta2.ReasonNoSpace)
	r, err := s.writer.Report(t.Context())
	must(t, err)
	t.Logf("a client saw: %s", r)
	if r.Lost > 0 {
		t.Errorf("%d acknowledged writes are lost", r.Lost)
	}
	s.toldOnce(v1beta2.ReasonRaisingQuota)
}

// keepsKeys writes keys of a MiB each that stay.
func (s *story) keepsKeys(from, to int) {
	s.t.Helper()
	for i := from; i < to; i++ {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("kept/%d", i), strings.Repeat("x", 1<<20))
			return err
		}))
	}
}

// quotas waits until all members have that quota.
func (s *story) quotas(want int64) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("a quota of %d bytes", want), limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSizeQuota == want })
	}))
}
