package etcdcluster_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// claimed is an idle world with a cluster of one on volumes that has not been looked at yet.
func claimed(t *testing.T, name types.NamespacedName) (*idleWorld, *v1beta2.EtcdCluster) {
	t.Helper()
	w := newIdleWorld(t)
	c := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec: v1beta2.EtcdClusterSpec{Size: 1, Pod: &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}},
	}
	must(t, w.api.Create(t.Context(), c))
	return w, c
}

// passes looks at the cluster until nothing is left to do.
func (w *idleWorld) passes(t *testing.T, name types.NamespacedName) *v1beta2.EtcdCluster {
	t.Helper()
	for range 100 {
		result, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		if err == nil && result.RequeueAfter >= time.Minute/2 {
			break
		}
		w.kubelet(t)
	}
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	return c
}

// TestKeptClaimWithoutLabels takes the labels off a claim that is kept: its name is not taken, and status has it for as long as it
// is there.
func TestKeptClaimWithoutLabels(t *testing.T) {
	name := types.NamespacedName{Namespace: namespace, Name: "keeps"}
	w, c := claimed(t, name)
	claim := resources.Volume(c, "keeps-0", 1)
	claim.Labels, claim.Annotations[resources.AnnotationMemberID] = nil, "1"
	must(t, w.api.Create(t.Context(), claim))
	c.Status.KeptVolumes = []v1beta2.KeptVolume{{Name: claim.Name, UID: string(claim.UID), Restore: "monday"}}
	must(t, w.api.Status().Update(t.Context(), c))
	if s := w.passes(t, name).Status; len(s.KeptVolumes) != 1 || s.Phase != v1beta2.ClusterPhaseRunning || s.MemberStatuses[0].Name != "keeps-1" {
		t.Errorf("the status is %+v", s)
	}
	must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	if len(claim.Labels) != 0 {
		t.Errorf("its labels are %v", claim.Labels)
	}
	must(t, w.api.Delete(t.Context(), claim))
	if s := w.passes(t, name).Status; len(s.KeptVolumes) != 0 {
		t.Errorf("it is gone, and %+v are kept", s.KeptVolumes)
	}
}

// TestClaimWithoutLabels takes the labels off a claim that has the name of the first member: only if nothing can be on it does it
// become that one's.
func TestClaimWithoutLabels(t *testing.T) {
	for title, used := range map[string]bool{"used": true, "empty": false} {
		t.Run(title, func(t *testing.T) {
			name := types.NamespacedName{Namespace: namespace, Name: "bare"}
			w, c := claimed(t, name)
			claim := resources.Volume(c, "bare-0", 7)
			labels := map[string]string{resources.LabelIncarnation: "7"}
			if claim.Labels = maps.Clone(labels); used {
				claim.Annotations[resources.AnnotationMemberID] = "1"
			}
			must(t, w.api.Create(t.Context(), claim))
			s := w.passes(t, name).Status
			must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
			if claim.Labels[resources.LabelIncarnation] != "7" {
				t.Errorf("its labels are %v", claim.Labels)
			}
			if !used {
				return
			}
			if !maps.Equal(claim.Labels, labels) {
				t.Errorf("its labels are %v", claim.Labels)
			}
			degraded := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionDegraded)
			if degraded.Reason != v1beta2.ReasonNameTaken || !strings.Contains(degraded.Message, "restore the labels (app=etcd,") {
				t.Errorf("it says %+v", degraded)
			}
		})
	}
}
