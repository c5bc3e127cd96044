package etcdcluster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestOwnSecretSeenLate takes the Secret of an EtcdUser that a stale read has missed for what it is: it exists, and the next pass reads it.
// One of somebody else's is for the EtcdUser to report, and does not stop the cluster.
func TestOwnSecretSeenLate(t *testing.T) {
	user := &v1beta2.EtcdUser{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app", UID: "app"}}
	user.Spec.ClientCertificate = &v1beta2.UserCertificate{SecretName: "app-tls"}
	for title, owner := range map[string]*metav1.OwnerReference{
		"its own":         metav1.NewControllerRef(user, v1beta2.GroupVersion.WithKind("EtcdUser")),
		"somebody else's": nil,
	} {
		r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
		p.live, p.certified = true, &certified{}
		there := resources.UserSecret(p.cluster, user, nil)
		if there.OwnerReferences = nil; owner != nil {
			there.OwnerReferences = []metav1.OwnerReference{*owner}
		}
		must(t, r.Client.Create(t.Context(), there))
		if err := r.writeSecret(t.Context(), p, resources.UserSecret(p.cluster, user, nil)); !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s: %v, want that it exists", title, err)
		}
	}
}

// deleted creates a Secret that somebody holds while it is being deleted.
func deleted(t *testing.T, r *Reconciler, secret *corev1.Secret) {
	t.Helper()
	secret.Finalizers = []string{"example.com/hold"}
	must(t, r.Client.Create(t.Context(), secret))
	must(t, r.Client.Delete(t.Context(), secret))
}

// TestSecretBeingDeleted neither writes a Secret that is being deleted nor creates a pod that mounts it, and says what it waits for; what
// does not rely on it is written all the same. Once it is gone, it is created again.
func TestSecretBeingDeleted(t *testing.T) {
	written := []string{}
	count := func(_ context.Context, _ client.WithWatch, o client.Object) { written = append(written, o.GetName()) }
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			count(ctx, c, o)
			return c.Create(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			count(ctx, c, o)
			return c.Patch(ctx, o, patch, options...)
		},
	})
	p.live, p.before, p.observed.Cluster.ID = true, &v1beta2.EtcdClusterStatus{}, 1
	p.transport, p.cluster.Spec.TLS = member.Transport{PeerTLS: true, ClientTLS: true}, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	p.sides = p.transport
	agent, own := resources.AgentSecret(p.cluster, nil), resources.MemberSecret(p.cluster, "c-0", nil)
	deleted(t, r, agent)
	deleted(t, r, own)
	pass := func() {
		t.Helper()
		must(t, r.decideCertificates(t.Context(), p))
		written = nil
		must(t, r.applyCertificates(t.Context(), p))
		p.before.Authorities, p.before.Roots = p.certified.Authorities, p.certified.Roots
	}
	pass()
	pass()
	if !slices.Equal(written, []string{"c-client"}) {
		t.Errorf("it writes %q", written)
	}
	if want := "no longer exist: c-0-tls, c-agent"; !strings.Contains(p.certified.Step, want) {
		t.Errorf("it says %q, want %q", p.certified.Step, want)
	}
	p.before.TLS = &v1beta2.TLSStatus{TrustSecret: p.trustSecret()}
	p.certified.secrets[p.trustSecret()] = &outline{}
	p.action = plan.CreatePods{Pods: []plan.NewPod{{Name: "c-0", Transport: p.transport}}}
	if wait, ok := p.withCertificates().(plan.Wait); !ok || wait.Message != "Secret c-0-tls is being deleted" {
		t.Errorf("with a Secret that is being deleted: %+v", p.withCertificates())
	}
	for _, secret := range []*corev1.Secret{agent, own} {
		must(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
		secret.Finalizers = nil
		must(t, r.Client.Update(t.Context(), secret))
	}
	if pass(); !slices.Contains(written, "c-agent") || !slices.Contains(written, "c-0-tls") {
		t.Errorf("once they are gone, it writes %q", written)
	}
}

// TestHeldSecretIsReported names each Secret of the cluster's own that does not go, and what holds it, once it had time to; nothing waits for
// it that can do without. What else is wrong is said, too.
func TestHeldSecretIsReported(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	r.Clock = clock
	p.live, p.before, p.observed.Cluster.ID = true, &v1beta2.EtcdClusterStatus{}, 1
	p.transport, p.cluster.Spec.TLS = member.Transport{PeerTLS: true, ClientTLS: true}, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	p.sides = p.transport
	held := resources.ClientSecret(p.cluster, nil)
	deleted(t, r, held)
	must(t, r.decideCertificates(t.Context(), p))
	if p.certified.Problem != nil {
		t.Errorf("at once it says %+v", p.certified.Problem)
	}
	clock.SetTime(time.Now().Add(2 * goneNotice))
	must(t, r.decideCertificates(t.Context(), p))
	problem := p.certified.Problem
	if problem == nil || problem.Reason != v1beta2.ReasonWriteRefused || !strings.Contains(problem.Message, "Secret c-client is being deleted") ||
		!strings.Contains(problem.Message, "example.com/hold") || p.certified.Blocking != nil {
		t.Errorf("it says %+v", problem)
	}
	d := certificates.Decision{Problem: &failure.Problem{Reason: v1beta2.ReasonIssuerUnavailable, Message: "no issuer"}}
	p.reportHeld(&d, p.certified.secrets, clock.Now())
	if d.Problem.Reason != v1beta2.ReasonIssuerUnavailable || !strings.HasPrefix(d.Problem.Message, "no issuer; Secret c-client") {
		t.Errorf("with another problem it says %+v", d.Problem)
	}
	must(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(held), held))
	held.Finalizers = nil
	must(t, r.Client.Update(t.Context(), held))
	if must(t, r.decideCertificates(t.Context(), p)); p.certified.Problem != nil {
		t.Errorf("once it is gone, it says %+v", p.certified.Problem)
	}
}

// TestTrustBeingDeleted waits for a trust Secret that nothing names yet and that is being deleted: no pod is to mount it.
func TestTrustBeingDeleted(t *testing.T) {
	r, p := onePass(t, plan.CreatePods{Pods: []plan.NewPod{{Name: "c-0", Transport: member.Transport{PeerTLS: true}}}}, interceptor.Funcs{})
	data := map[string][]byte{certificates.KeyPeerCA: []byte("ca")}
	p.live, p.before, p.observed.Cluster.ID, p.transport = true, &v1beta2.EtcdClusterStatus{}, 1, member.Transport{PeerTLS: true}
	p.sides = p.transport
	p.certified = &certified{
		Decision: certificates.Decision{Trust: data, TrustHash: "known"}, secrets: map[string]*outline{}, dependsOn: dependsOn(p),
	}
	deleted(t, r, resources.TrustSecret(p.cluster, "known", data))
	must(t, r.applyCertificates(t.Context(), p))
	wait, ok := p.withCertificates().(plan.Wait)
	if want := "no longer exist: c-trust-known"; !ok || !strings.Contains(p.certified.Step, want) || p.certified.Settled {
		t.Errorf("it does %+v, and says %q, want %q", wait, p.certified.Step, want)
	}
}
