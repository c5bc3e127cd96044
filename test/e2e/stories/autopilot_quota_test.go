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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestGrowQuota has keys fill a small quota: it is raised before etcd refuses a write, up to the maximum, and what is written to the spec counts
// from then on. What is deleted again before four fifths are in use raises nothing.
func TestGrowQuota(t *testing.T) {
	t.Parallel()
	editions(t, growQuota)
}

func growQuota(t *testing.T, etcd edition) {
	s := etcd.begin(t, "grow-quota", growing("64Mi", "96Mi"))
	s.settled()
	s.client()
	for range 2 {
		s.peaks(45)
	}
	s.unsaid(v1beta2.ReasonRaisingQuota)
	s.quotas(64 << 20)
	s.keepsKeys(54)
	s.look("four fifths")
	s.quotas(96 << 20)
	s.settled()
	s.keepsKeys(82)
	s.look("four fifths of the maximum")
	s.isHeld("quota", v1beta2.ReasonQuotaHeld, "spec.autopilot.quota.max")
	quota := resource.MustParse("128Mi")
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Etcd.QuotaBackendBytes = &quota }))
	s.quotas(128 << 20)
	s.settled()
	s.unsaid(v1beta2.ReasonNoSpace)
	s.report("a client saw")
	s.toldOnce(v1beta2.ReasonRaisingQuota)
	s.toldOnce(v1beta2.ReasonQuotaRaised)
}

// TestQuotaReached has live keys fill the quota faster than anybody looks: no history is old enough to be given up, and it is raised although writes
// are refused already, and the window is closed.
func TestQuotaReached(t *testing.T) {
	t.Parallel()
	editions(t, quotaReached)
}

func quotaReached(t *testing.T, etcd edition) {
	spec := growing("32Mi", "8Gi")
	spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "0 0 29 2 *", Duration: metav1.Duration{Duration: time.Hour}}
	s := etcd.begin(t, "quota-reached", spec)
	s.settled()
	s.client()
	refused := s.fillsUntil("the quota is raised", func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return inJSON(object.Status.Autopilot), object.Status.Autopilot != nil && object.Status.Autopilot.Tuned != nil
	})
	took := s.writesTaken(refused)
	s.quotas(48 << 20)
	s.measures("a quota reached while no history is old enough, from the first write that is refused until one is taken", fmt.Sprintf("%.1f s", took.Seconds()))
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonHasQuorum)
	s.settled()
	s.report("a client saw")
	s.toldOnce(v1beta2.ReasonQuotaRaised)
}

// growing is a cluster with that quota, on volumes that have room for the next two.
func growing(from, most string) v1beta2.EtcdClusterSpec {
	quota, limit, spec := resource.MustParse(from), resource.MustParse(most), onVolumes(3)
	spec.Etcd = &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	spec.Autopilot = &v1beta2.AutopilotSpec{Quota: &v1beta2.QuotaAutopilot{Max: &limit}}
	return spec
}

// keepsKeys writes keys that stay until so many MiB are in use: small ones, because large ones leave pages free between them.
func (s *story) keepsKeys(mebi int64) {
	s.t.Helper()
	const size, atOnce = 32 << 10, 32
	for i, inUse := 0, int64(0); inUse < mebi<<20; i++ {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			for j := range atOnce {
				if _, err := etcd.Put(ctx, fmt.Sprintf("kept/%d/%d/%d", mebi, i, j), strings.Repeat("x", size)); err != nil {
					return err
				}
			}
			status, err := etcd.Status(ctx, etcd.Endpoints()[0])
			if err == nil {
				inUse = status.DbSizeInUse
			}
			return err
		}))
	}
}

// peaks writes keys until so many MiB are in use, has the operator look at that, and deletes them again.
func (s *story) peaks(mebi int64) {
	s.t.Helper()
	s.keepsKeys(mebi)
	s.looks(func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod.Labels = map[string]string{"peak": time.Now().UTC().Format("150405")} // any edit that disturbs no member
	})
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		deleted, err := etcd.Delete(ctx, "kept/", clientv3.WithPrefix())
		if err != nil {
			return err
		}
		_, err = etcd.Compact(ctx, deleted.Header.Revision, clientv3.WithCompactPhysical())
		return err
	}))
	must(s.t, harness.Await(s.t.Context(), "what is deleted is free", limit, func(ctx context.Context) (string, bool) {
		return s.sizes(ctx, func(a *clientv3.StatusResponse) bool { return a.DbSizeInUse < mebi<<20/4 })
	}))
}

// quotas waits until all members have that quota. They are asked for their metrics, because Status of etcd 3.5 does not tell it.
func (s *story) quotas(want int64) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("a quota of %d bytes", want), limit, func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		if err != nil {
			return err.Error(), false
		}
		said, all := "", len(pods) == 3
		for _, pod := range pods {
			quota, err := s.Metric(ctx, pod.Name, "etcd_server_quota_backend_bytes")
			said += fmt.Sprintf("%s has a quota of %.0f bytes, %v; ", pod.Name, quota, err)
			all = all && err == nil && quota == float64(want)
		}
		return said, all
	}))
}
