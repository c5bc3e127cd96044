package etcdcluster_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// authWorld is a cluster whose clients have certificates.
type authWorld struct {
	*idleWorld
	*testing.T
	name types.NamespacedName
}

func newAuthWorld(t *testing.T) *authWorld {
	t.Helper()
	w := &authWorld{newIdleWorld(t), t, types.NamespacedName{Namespace: namespace, Name: "idle"}}
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "idle", Generation: 1},
		Spec:       v1beta2.EtcdClusterSpec{Size: 1, TLS: &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}},
	}))
	return w
}

// settle lets the operator work until it has nothing to do.
func (w *authWorld) settle() *v1beta2.EtcdCluster {
	w.Helper()
	const passes, calm = 200, 3
	for quiet, n := 0, 0; quiet < calm; n++ {
		w.writes = 0
		result := w.pass()
		if quiet++; w.writes > 0 || result.RequeueAfter < 30*time.Second {
			quiet = 0
		}
		if n == passes {
			w.Fatalf("it is not quiet after %d passes, with %d writes, next %s: %+v", n, w.writes, result.RequeueAfter, w.read().Status)
		}
	}
	return w.read()
}

// pass lets the operator work once, and then the kubelet.
func (w *authWorld) pass() ctrl.Result {
	w.Helper()
	result, err := w.operator.Reconcile(w.Context(), ctrl.Request{NamespacedName: w.name})
	must(w.T, err)
	w.kubelet(w.T)
	return result
}

func (w *authWorld) read() *v1beta2.EtcdCluster {
	w.Helper()
	c := &v1beta2.EtcdCluster{}
	must(w.T, w.api.Get(w.Context(), w.name, c))
	return c
}

// ask edits spec.auth.
func (w *authWorld) ask(auth *v1beta2.AuthPolicy) *v1beta2.EtcdCluster {
	w.Helper()
	c := w.read()
	c.Spec.Auth = auth
	c.Generation++
	must(w.T, w.api.Update(w.Context(), c))
	return w.settle()
}

// says checks what the user reads.
func (w *authWorld) says(c *v1beta2.EtcdCluster, on, ready bool, reason, message string) {
	w.Helper()
	got := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionAuthenticated)
	if got == nil || (got.Status == metav1.ConditionTrue) != on || got.Reason != reason || !strings.Contains(got.Message, message) {
		w.Errorf("Authenticated is %+v, want %t, %s", got, on, reason)
	}
	if is := meta.IsStatusConditionTrue(c.Status.Conditions, v1beta2.ConditionReady); is != ready {
		w.Errorf("Ready is %t: %+v", is, c.Status.Conditions)
	}
}

// TestAuthIsKept switches it on and off, changes the password, and costs nothing while nothing is to be changed.
func TestAuthIsKept(t *testing.T) {
	w := newAuthWorld(t)
	if c := w.settle(); c.Status.Auth != nil || meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionAuthenticated) != nil {
		t.Errorf("nobody has asked, and it says %+v", c.Status)
	}
	if _, _, asked := w.auth.state(); asked != 1 {
		t.Errorf("it was asked %d times, want once", asked)
	}

	on := &v1beta2.AuthPolicy{Enabled: true, RootPasswordSecretRef: &v1beta2.SecretKeyRef{Name: "root"}}
	w.says(w.ask(on), false, false, v1beta2.ReasonInvalidRootPassword, "spec.auth.rootPasswordSecretRef: Secret root does not exist")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "root"}, Data: map[string][]byte{"password": []byte("first")}}
	must(t, w.api.Create(t.Context(), secret))
	c := w.ask(on)
	w.says(c, true, true, v1beta2.ReasonAuthenticationOn, "the operator is its user root")
	if enabled, password, _ := w.auth.state(); !enabled || password != "first" || !c.Status.Auth.Enabled {
		t.Errorf("it is on: %t, with password %q", enabled, password)
	}
	_, _, before := w.auth.state()
	w.live = 0
	w.settle()
	if _, _, asked := w.auth.state(); asked != before || w.live > 0 {
		t.Errorf("idle, it is asked %d times, with %d reads", asked-before, w.live)
	}

	secret.Labels = map[string]string{"team": "a"}
	must(t, w.api.Update(t.Context(), secret))
	if c = w.ask(on); w.auth.changes() != 0 || !strings.Contains(c.Status.RootUser.RootPassword, "/"+secret.ResourceVersion+"/") {
		t.Errorf("a label on the Secret changes the password %d times; %+v", w.auth.changes(), c.Status.RootUser)
	}
	secret.Data["password"] = []byte("second")
	must(t, w.api.Update(t.Context(), secret))
	w.ask(on)
	if _, password, _ := w.auth.state(); password != "second" {
		t.Errorf("root's password is %q", password)
	}
	must(t, w.api.Delete(t.Context(), secret))
	secret.ResourceVersion = ""
	must(t, w.api.Create(t.Context(), secret))
	changed := w.auth.changes()
	w.ask(on)
	if w.auth.changes() != changed+1 {
		t.Error("the password is not set again from a Secret that was created again")
	}
	c = w.ask(&v1beta2.AuthPolicy{Enabled: true})
	if _, password, _ := w.auth.state(); len(password) < 40 || len(password) > 72 {
		t.Errorf("root's password is %q, want one that nobody knows", password)
	}
	if text := w.recordedEvents(); strings.Contains(text, "second") || strings.Contains(c.Status.RootUser.RootPassword, "second") {
		t.Errorf("a password is told: %s", text)
	}
	c = w.ask(nil)
	w.says(c, true, true, v1beta2.ReasonAuthenticationOn, "stays on without spec.auth")
	c = w.ask(&v1beta2.AuthPolicy{})
	w.says(c, false, true, v1beta2.ReasonAuthenticationOff, "as spec.auth asks")
	if enabled, _, _ := w.auth.state(); enabled || c.Status.Auth.Enabled || c.Status.RootUser != nil {
		t.Errorf("it is on: %t; %+v", enabled, c.Status.Auth)
	}
	if c = w.ask(nil); c.Status.Auth != nil {
		t.Errorf("it says %+v", c.Status.Auth)
	}
}
