package etcdcluster_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestAuthOnStaleCache lets the cache show a cluster that is to grow, and the API server one with nothing to do: what the first half of the
// pass has read of the authentication is known in the second one, and root's password is not.
func TestAuthOnStaleCache(t *testing.T) {
	w := newAuthWorld(t)
	w.settle()
	must(t, w.api.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "root"}, Data: map[string][]byte{"password": []byte("first")},
	}))
	c := w.read()
	c.Spec.Auth = &v1beta2.AuthPolicy{Enabled: true, RootPasswordSecretRef: &v1beta2.SecretKeyRef{Name: "root"}}
	c.Generation++
	must(t, w.api.Update(t.Context(), c))

	current := w.operator.Client
	wrapped, ok := current.(client.WithWatch)
	if !ok {
		t.Fatalf("%T cannot watch", current)
	}
	w.operator.Client = interceptor.NewClient(wrapped, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, o, opts...)
			if cluster, is := o.(*v1beta2.EtcdCluster); is {
				cluster.Spec.Size = 3
			}
			return err
		},
	})
	_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: w.name})
	must(t, err)
	w.operator.Client = current
	if on, password, _ := w.auth.state(); !on || password != "first" {
		t.Errorf("it is on: %t, with the password %q; want the Secret's", on, password)
	}
	w.settle()
	if on, password, _ := w.auth.state(); !on || password != "first" {
		t.Errorf("later it is on: %t, with the password %q; want the Secret's", on, password)
	}
}
