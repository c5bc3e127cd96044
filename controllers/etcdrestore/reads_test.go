package etcdrestore

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestPodsAreListedOnce has who may hold data and what would be lost with a pod come from one and the same list.
func TestPodsAreListedOnce(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "c", UID: "c"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "test", Name: "c-0", Labels: resources.ClusterSelector("c"),
		Annotations:     map[string]string{member.PermitAnnotation: "{}"},
		OwnerReferences: []metav1.OwnerReference{resources.Owner(c)},
	}}
	lists := 0
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).WithObjects(c, pod).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, o client.ObjectList, opts ...client.ListOption) error {
			if _, ok := o.(*corev1.PodList); ok {
				lists++
			}
			return c.List(ctx, o, opts...)
		},
	}).Build()
	p := &restorePass{object: &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "r"},
		Spec:       v1beta2.EtcdRestoreSpec{EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"}},
	}}
	p.observed.Phase = v1beta2.RestoreSaving
	if err := observeRestored(t.Context(), api, p); err != nil {
		t.Fatal(err)
	}
	if seen := p.observed.Cluster; lists != 1 || !seen.Held || len(seen.Volatile) != 1 || len(p.asked) != 1 {
		t.Errorf("after %d lists of pods: %+v, asking %q", lists, seen, p.asked)
	}
}
