package etcdcluster_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestReclaimWarning tells once, and as soon as it is so, that volumes go with their cluster and no one has said that they may.
func TestReclaimWarning(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "kept"}
	w.cluster(t, name)
	volume := &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	for _, step := range []struct {
		title  string
		pod    *v1beta2.PodPolicy
		policy v1beta2.VolumeReclaimPolicy
		warned int
	}{
		{title: "no volumes"},
		{"volumes", volume, "", 1},
		{"to keep them", volume, v1beta2.VolumeReclaimRetain, 0},
		{"to delete them", volume, v1beta2.VolumeReclaimDelete, 0},
		{"no longer said", volume, "", 1},
	} {
		w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Pod, c.Spec.VolumeReclaimPolicy = step.pod, step.policy })
		for range 5 {
			_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
			must(t, err)
		}
		if recorded := w.recordedEvents(); strings.Count(recorded, "Warning "+v1beta2.ReasonVolumesNotRetained) != step.warned {
			t.Errorf("%s: events %s", step.title, recorded)
		}
	}
}
