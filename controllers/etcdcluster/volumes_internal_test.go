package etcdcluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestVolumeThatWasChanged reads a claim that an admission webhook has given another size than the operator has asked for: it is as it was
// asked for, or it would be changed in every pass, and has the room of what it requests in fact.
func TestVolumeThatWasChanged(t *testing.T) {
	const gibi = 1 << 30
	c := &v1beta2.EtcdCluster{}
	c.Name, c.UID = "c", "u"
	c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("7Gi")},
	}}}
	for requests, capped := range map[string]int64{"5Gi": 5 * gibi, "7Gi": 0, "10Gi": 0} {
		claim := resources.Volume(c, "c-0", 1)
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(requests)
		if got := volumeOf(&pass{cluster: c}, claim); got.Requested != 7*gibi || got.Capped != capped {
			t.Errorf("one that requests %s: requested %d, capped %d, want %d and %d", requests, got.Requested, got.Capped, int64(7*gibi), capped)
		}
	}
}
