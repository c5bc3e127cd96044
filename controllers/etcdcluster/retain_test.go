package etcdcluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestRetainWithoutLabels asks for volumes to be kept of which some have lost labels: the garbage collector goes by their owners.
func TestRetainWithoutLabels(t *testing.T) {
	for also, beside := range map[string]func(*v1beta2.EtcdClusterSpec){
		"right":   func(*v1beta2.EtcdClusterSpec) {},
		"paused":  func(s *v1beta2.EtcdClusterSpec) { s.Paused = true },
		"refused": func(s *v1beta2.EtcdClusterSpec) { s.Version = "3.4.1" },
	} {
		t.Run(also, func(t *testing.T) { testRetain(t, also, beside) })
	}
}

func testRetain(t *testing.T, also string, beside func(*v1beta2.EtcdClusterSpec)) {
	name := types.NamespacedName{Namespace: namespace, Name: "stays"}
	w, c := claimed(t, name)
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "mine", UID: "mine"}
	claims := map[string]func(*corev1.PersistentVolumeClaim){
		"stays-7":  func(claim *corev1.PersistentVolumeClaim) {},
		"stays-8":  func(claim *corev1.PersistentVolumeClaim) { claim.Labels = nil }, // no restore has noted that it keeps it
		"stays-9":  func(claim *corev1.PersistentVolumeClaim) { delete(claim.Labels, resources.LabelNode) },
		"stays-10": func(claim *corev1.PersistentVolumeClaim) { delete(claim.Annotations, resources.AnnotationClusterUID) },
		"my-copy": func(claim *corev1.PersistentVolumeClaim) {
			claim.OwnerReferences = append(claim.OwnerReferences, other)
		},
		"others": func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = []metav1.OwnerReference{other} },
	}
	for name, edit := range claims {
		claim := resources.Volume(c, name, 1)
		claim.Annotations[resources.AnnotationMemberID] = "1"
		edit(claim)
		must(t, w.api.Create(t.Context(), claim))
		if name == "stays-7" {
			claim.Labels = nil
			must(t, w.api.Update(t.Context(), claim))
			c.Status.KeptVolumes = []v1beta2.KeptVolume{{Name: name, UID: string(claim.UID), Restore: "monday"}}
		}
	}
	must(t, w.api.Status().Update(t.Context(), c))
	owners := func(name string) (uids []types.UID) {
		claim := &corev1.PersistentVolumeClaim{}
		must(t, w.api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, claim))
		for _, owner := range claim.OwnerReferences {
			uids = append(uids, owner.UID)
		}
		return uids
	}
	for _, step := range []struct {
		title string
		edit  func(*v1beta2.EtcdClusterSpec)
		goes  bool
	}{
		{"nothing is said", func(*v1beta2.EtcdClusterSpec) {}, true},
		{"they are to stay, beside what is " + also, func(s *v1beta2.EtcdClusterSpec) {
			s.VolumeReclaimPolicy = v1beta2.VolumeReclaimRetain
			beside(s)
		}, false},
	} {
		w.change(t, name, func(c *v1beta2.EtcdCluster) { step.edit(&c.Spec) })
		w.passes(t, name)
		for claim := range claims {
			if goes := slices.Contains(owners(claim), c.UID); goes != (step.goes && claim != "others") {
				t.Errorf("%s: the owners of %s are %q", step.title, claim, owners(claim))
			}
		}
		for _, claim := range []string{"my-copy", "others"} {
			if !slices.Contains(owners(claim), other.UID) {
				t.Errorf("%s: the owners of %s are %q", step.title, claim, owners(claim))
			}
		}
	}
}

// TestRejectedVolumeMetadata has an admission policy reject every change to claims: the cluster is repaired all the same, and says
// what is rejected, above all that a volume would not outlive it.
func TestRejectedVolumeMetadata(t *testing.T) {
	name := types.NamespacedName{Namespace: namespace, Name: "stays"}
	w, _ := claimed(t, name)
	w.passes(t, name)
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.VolumeReclaimPolicy = v1beta2.VolumeReclaimRetain })
	w.operator.Client = interceptor.NewClient(w.operator.Client.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if _, ok := o.(*corev1.PersistentVolumeClaim); ok {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, o.GetName(), errors.New("policy"))
			}
			return c.Patch(ctx, o, patch, opts...)
		},
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "stays-0"}}
	must(t, w.api.Delete(t.Context(), pod))
	c := w.passes(t, name)
	must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	degraded := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionDegraded)
	if degraded == nil || degraded.Status != metav1.ConditionTrue || !strings.Contains(degraded.Message, "would be deleted with the EtcdCluster") {
		t.Errorf("it says %+v", degraded)
	}
}
