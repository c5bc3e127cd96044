package stories

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// amongStrangers has a member heal beside a pod of someone else that has the cluster's labels, and beside a copy of a member's
// claim under the next free name, as a rescue of data makes it: neither is used, neither is deleted, and status names one.
func (s *trial) amongStrangers() {
	target := s.follower()
	original := s.claim(target.Name)
	toolbox := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "toolbox", Labels: original.Labels},
		Spec: harness.Restricted(corev1.PodSpec{ // it never runs: who counts the members that are ready would count it
			NodeSelector: map[string]string{"kubernetes.io/hostname": "nowhere"},
			Containers:   []corev1.Container{{Name: "tool", Image: "busybox"}},
		}),
	}
	rescued := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: s.Name + "-3", Labels: original.Labels, Annotations: original.Annotations,
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: original.Spec.AccessModes, Resources: original.Spec.Resources, StorageClassName: original.Spec.StorageClassName,
		},
	}
	for _, o := range []client.Object{toolbox, rescued} {
		must(s.t, env.Create(s.t.Context(), o))
	}
	must(s.t, harness.Await(s.t.Context(), "a stranger named", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionDegraded)
		return harness.Words(object), c != nil && c.Reason == v1beta2.ReasonStrangerPod && strings.Contains(c.Message, toolbox.Name)
	}))
	s.breaking()
	must(s.t, s.Client.Delete(s.t.Context(), original))
	must(s.t, s.KillPod(s.t.Context(), target.Name))
	s.replaced(target.UID)
	for _, o := range []client.Object{toolbox, rescued} {
		uid := o.GetUID()
		must(s.t, s.Client.Get(s.t.Context(), client.ObjectKeyFromObject(o), o))
		if o.GetUID() != uid || o.GetDeletionTimestamp() != nil || len(o.GetOwnerReferences()) > 0 {
			s.t.Errorf("%T %s was touched: %v", o, o.GetName(), o)
		}
	}
}
