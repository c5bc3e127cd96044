package stories

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// TestGrowVolume has keys fill a small quota on volumes that have no room for a higher one: they are made larger, once that is allowed, and
// only then is the quota raised. A larger size in the spec wins.
func TestGrowVolume(t *testing.T) {
	t.Parallel()
	editions(t, growVolume)
}

func growVolume(t *testing.T, etcd edition) {
	class, most := lab.GrowingClass, resource.MustParse("1Gi")
	spec := growing("64Mi", "96Mi")
	spec.Pod.PersistentVolumeClaimSpec.StorageClassName = &class
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("1Gi")
	spec.Autopilot.Volume = &v1beta2.VolumeAutopilot{Max: &most}
	s := etcd.begin(t, "grow-volume", spec)
	s.settled()
	s.client()
	s.keepsKeys(54)
	s.look("four fifths")
	s.isHeld("quota", v1beta2.ReasonQuotaHeld, "spec.autopilot.volume.max")
	s.claims("1Gi")
	more := resource.MustParse("2Gi")
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Autopilot.Volume.Max = &more }))
	s.claims("2Gi")
	s.quotas(96 << 20)
	s.settled()
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if a := object.Status.Autopilot; a == nil || a.Volume == nil || a.Volume.Size.Cmp(more) != 0 || a.Volume.InsteadOf.String() != "1Gi" {
		t.Errorf("status.autopilot is %s", inJSON(a))
	}
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("3Gi")
	}))
	s.claims("3Gi")
	s.settled()
	s.report("a client saw")
	s.toldOnce(v1beta2.ReasonGrowingVolumes)
	s.toldOnce(v1beta2.ReasonRaisingQuota)
	s.toldOnce(v1beta2.ReasonVolumesGrown)
	s.toldOnce(v1beta2.ReasonQuotaRaised)
}

// TestGrowVolumeByReplacement does the same where volumes cannot be expanded: the members are replaced one after the other.
func TestGrowVolumeByReplacement(t *testing.T) {
	t.Parallel()
	editions(t, growVolumeByReplacement)
}

func growVolumeByReplacement(t *testing.T, etcd edition) {
	most := resource.MustParse("2Gi")
	spec := growing("64Mi", "96Mi")
	spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("1Gi")
	spec.Autopilot.Volume = &v1beta2.VolumeAutopilot{Max: &most}
	s := etcd.begin(t, "replace-volume", spec)
	s.settled()
	former := s.volumes()
	s.client()
	s.keepsKeys(54)
	s.look("four fifths")
	s.claims("2Gi")
	s.quotas(96 << 20)
	s.settled()
	if left := slices.DeleteFunc(s.volumes(), func(uid types.UID) bool { return !slices.Contains(former, uid) }); len(left) > 0 {
		t.Errorf("members have volumes that they had before: %q", left)
	}
	s.report("a client saw")
	s.toldOnce(v1beta2.ReasonGrowingVolumes)
	s.toldOnce(v1beta2.ReasonVolumesGrown)
	s.toldOnce(v1beta2.ReasonQuotaRaised)
	s.unsaid(v1beta2.ReasonNoSpace)
}

// volumes are the UIDs of the members' claims.
func (s *story) volumes() (uids []types.UID) {
	s.t.Helper()
	for _, pod := range s.memberPods() {
		uids = append(uids, s.claim(pod.Name).UID)
	}
	return uids
}

// claims waits until the claims of all members request that much, and have it.
func (s *story) claims(size string) {
	s.t.Helper()
	want := resource.MustParse(size)
	must(s.t, harness.Await(s.t.Context(), "claims of "+size, limit, func(ctx context.Context) (string, bool) {
		claims := &corev1.PersistentVolumeClaimList{}
		if err := env.List(ctx, claims, client.InNamespace(s.Namespace), client.MatchingLabels(resources.ClusterSelector(s.Name))); err != nil {
			return err.Error(), false
		}
		said, all := "", len(claims.Items) == 3
		for i := range claims.Items {
			asked, has := claims.Items[i].Spec.Resources.Requests[corev1.ResourceStorage], claims.Items[i].Status.Capacity[corev1.ResourceStorage]
			said += fmt.Sprintf("%s requests %s and has %s; ", claims.Items[i].Name, asked.String(), has.String())
			all = all && asked.Cmp(want) == 0 && has.Cmp(want) == 0
		}
		return said, all
	}))
}
