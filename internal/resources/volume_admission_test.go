package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestVolumeChangedAtAdmission takes a claim that a webhook has changed for what was asked for, until the spec asks for something else:
// another claim would be changed again.
func TestVolumeChangedAtAdmission(t *testing.T) {
	want := func(class, size string) *v1beta2.EtcdCluster {
		return cluster(func(c *v1beta2.EtcdCluster) {
			c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class,
				Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
			}}
		})
	}
	changed := Volume(want("fast", "1Gi"), "c-0", 1)
	slow := "slow"
	changed.Spec.StorageClassName = &slow
	changed.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("5Gi")
	made := changed.DeepCopy()
	delete(made.Annotations, AnnotationVolume) // by an operator that did not write it
	for title, c := range map[string]struct {
		claim       *corev1.PersistentVolumeClaim
		class, size string
		drift       bool
		requested   string
	}{
		"what was asked for":      {changed, "fast", "1Gi", false, "1Gi"},
		"what the webhook made":   {changed, "slow", "5Gi", false, "5Gi"},
		"another class and size":  {changed, "other", "2Gi", true, "5Gi"},
		"nothing is known: other": {made, "fast", "1Gi", true, "5Gi"},
		"nothing is known: equal": {made, "slow", "5Gi", false, "5Gi"},
	} {
		t.Run(title, func(t *testing.T) {
			if got := VolumeDrift(want(c.class, c.size), c.claim); got != c.drift {
				t.Errorf("drift %v", got)
			}
			if got := VolumeSize(c.claim, resource.MustParse(c.size)); got.Cmp(resource.MustParse(c.requested)) != 0 {
				t.Errorf("it requests %s, want %s", got.String(), c.requested)
			}
		})
	}
}
