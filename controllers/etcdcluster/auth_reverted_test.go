package etcdcluster_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestPasswordTakenBack changes root's password, which status cannot say any more, and changes it back: etcd gets the first one again.
func TestPasswordTakenBack(t *testing.T) {
	w := newAuthWorld(t)
	w.settle()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "root"}, Data: map[string][]byte{"password": []byte("first")}}
	must(t, w.api.Create(t.Context(), secret))
	on := &v1beta2.AuthPolicy{Enabled: true, RootPasswordSecretRef: &v1beta2.SecretKeyRef{Name: "root"}}
	w.ask(on)

	current := w.operator.Client
	wrapped, ok := current.(client.WithWatch)
	if !ok {
		t.Fatalf("%T cannot watch", current)
	}
	w.operator.Client = interceptor.NewClient(wrapped, interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return errors.New("the API server is away")
		},
	})
	secret.Data["password"] = []byte("second")
	must(t, w.api.Update(t.Context(), secret))
	c := w.read()
	c.Generation++
	must(t, w.api.Update(t.Context(), c))
	for n := 0; ; n++ {
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: w.name})
		if _, password, _ := w.auth.state(); password == "second" {
			break
		}
		if n == 20 {
			t.Fatalf("root's password is still the first one: %v", err)
		}
	}
	w.operator.Client = current
	secret.Data["password"] = []byte("first")
	must(t, w.api.Update(t.Context(), secret))
	w.ask(on)
	if _, password, _ := w.auth.state(); password != "first" {
		t.Errorf("root's password is %q, and the Secret's is %q", password, "first")
	}
}
