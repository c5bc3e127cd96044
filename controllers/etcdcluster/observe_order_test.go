package etcdcluster_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestBudgetIsReadBeforePods: an eviction that the budget shows no more has marked its pod. If the pods were read first, one that is granted between
// the two reads would be in neither, and another voter would be stopped with it.
func TestBudgetIsReadBeforePods(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: "ns", Name: "c"}
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Spec: v1beta2.EtcdClusterSpec{Size: 1},
	}))
	var reads []string
	live := w.operator.Live
	w.operator.Live = interceptor.NewClient(w.api.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*policyv1.PodDisruptionBudget); ok {
				reads = append(reads, "budget")
			}
			return live.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*corev1.PodList); ok {
				reads = append(reads, "pods")
			}
			return live.List(ctx, list, opts...)
		},
	})
	for range 3 { // it is claimed, the first start is written down, and its pod is made
		reads = nil
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
	}
	if budget, pods := slices.Index(reads, "budget"), slices.Index(reads, "pods"); budget < 0 || pods < budget {
		t.Errorf("it is read in the order %q", reads)
	}
}
