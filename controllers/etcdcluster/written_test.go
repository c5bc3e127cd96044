package etcdcluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
)

// writtenVolume deletes a claim that was read before somebody else has written to it, as an operator would that was frozen meanwhile.
func (e *env) writtenVolume(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "written"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	must(t, e.Create(t.Context(), claim))
	read := claim.DeepCopy()
	claim.Annotations = map[string]string{"given": "to a member"}
	must(t, e.Update(t.Context(), claim))
	if err := reconcile.DeleteUnchanged(t.Context(), e.Client, read); !apierrors.IsConflict(err) || !reconcile.Stale(err) {
		t.Errorf("deleting it answers %v", err)
	}
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	if claim.DeletionTimestamp != nil {
		t.Error("it is deleted")
	}
	must(t, reconcile.DeleteUnchanged(t.Context(), e.Client, claim))
}
