package etcdcluster

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// secretsOf is a pass of a cluster with TLS whose namespace has these Secrets, and what it reads of them.
func secretsOf(t *testing.T, tls *v1beta2.TLSPolicy, recorded string, all ...*corev1.Secret) (*pass, certificates.Observed) {
	t.Helper()
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.transport, p.cluster.Spec.TLS = member.Transport{PeerTLS: true, ClientTLS: true}, tls
	p.sides = p.transport
	p.before = &v1beta2.EtcdClusterStatus{TLS: &v1beta2.TLSStatus{TrustSecret: recorded}}
	for _, secret := range all {
		must(t, r.Client.Create(t.Context(), secret))
	}
	seen, _, err := r.readCertificates(t.Context(), p)
	must(t, err)
	return p, seen
}

// TestAlteredTrust decides nothing on a trust Secret that holds something else than its name says: what members trust is unknown then.
func TestAlteredTrust(t *testing.T) {
	data := map[string][]byte{certificates.KeyPeerCA: []byte("planted")}
	_, c := onePass(t, plan.Idle{}, interceptor.Funcs{})
	altered, unreadable := resources.TrustSecret(c.cluster, "0123456789", data), resources.TrustSecret(c.cluster, certificates.Hash(data), data)
	for want, secret := range map[string]*corev1.Secret{
		"Secret c-trust-0123456789 holds other authorities than its name says (keys: peer-ca.crt): somebody has replaced it": altered,
		"key peer-ca.crt of Secret " + unreadable.Name + " is not PEM":                                                       unreadable,
	} {
		p, seen := secretsOf(t, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}, secret.Name, secret)
		if seen.Trust != nil || len(seen.Altered) != 1 || !strings.HasPrefix(seen.Altered[0].Why, want) {
			t.Fatalf("it reads %d keys and says %q, want %q", len(seen.Trust), seen.Altered, want)
		}
		d, err := certificates.Decide(seen, rand.Reader)
		must(t, err)
		hold(&d, seen, p)
		p.certified = &certified{Decision: d, altered: seen.Altered, secrets: map[string]*outline{}}
		p.action = plan.CreatePods{Pods: []plan.NewPod{{Name: "c-0", Transport: p.transport}}}
		if w, ok := p.withCertificates().(plan.Wait); !ok || !strings.Contains(w.Message, "was altered: "+want) ||
			!strings.Contains(w.Message, "kubectl -n ns delete secret "+secret.Name) || strings.Contains(w.Message, "does not exist") {
			t.Errorf("a lost pod: %+v", p.withCertificates())
		}
		if len(secretsFor(p, time.Time{})) > 0 || p.trustSecret() != secret.Name || d.Problem == nil || !strings.HasPrefix(d.Problem.Message, want) {
			t.Errorf("it writes %d Secrets, and new members trust %s; %+v", len(secretsFor(p, time.Time{})), p.trustSecret(), d.Problem)
		}
	}
}

// TestNamesOfNoUse lets others have the names that only certificates by the operator need.
func TestNamesOfNoUse(t *testing.T) {
	foreign := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Data: map[string][]byte{"theirs": nil}}
	}
	given := &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "p", ServerSecret: "s"}, OperatorSecret: "o"}}
	for title, c := range map[string]struct {
		tls  *v1beta2.TLSPolicy
		want []string
	}{
		"certificates by the operator": {&v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}, []string{"c-ca", "c-client", "c-agent"}},
		"certificates of the user's":   {given, []string{"c-agent"}},
	} {
		p, seen := secretsOf(t, c.tls, "", foreign("c-ca"), foreign("c-client"), foreign("c-agent"))
		var names []string
		for _, conflict := range p.observed.Conflicts {
			names = append(names, conflict.Name)
		}
		if !slices.Equal(names, c.want) || seen.Authority != nil || seen.Client != nil || seen.Agent != nil {
			t.Errorf("%s: %v block, want %v", title, names, c.want)
		}
	}
}

// TestRefusedOnce checks certificates that were refused no more often than once a minute while they are the same, and others at once.
func TestRefusedOnce(t *testing.T) {
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	clock := clocktesting.NewFakePassiveClock(noon)
	r.Clock, p.before, p.transport = clock, &v1beta2.EtcdClusterStatus{}, member.Transport{PeerTLS: true}
	p.cluster.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "bad"}}}
	bad := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "bad"}, Data: map[string][]byte{"peer.crt": []byte("x")}}
	must(t, r.Client.Create(t.Context(), bad))
	checked := 0
	var last time.Time
	decide := func(at time.Time) {
		t.Helper()
		clock.SetTime(at)
		must(t, r.observeCertificates(t.Context(), p))
		if p.certified.Problem == nil {
			t.Fatal("it is not refused")
		}
		if p.certified.decided != last {
			checked, last = checked+1, p.certified.decided
		}
	}
	for at := noon; at.Before(noon.Add(5 * refusedFor / 2)); at = at.Add(time.Second) {
		decide(at)
	}
	if checked != 3 {
		t.Errorf("checked %d times in two and a half minutes, want 3", checked)
	}
	bad.Data["peer.crt"] = []byte("y")
	must(t, r.Client.Update(t.Context(), bad))
	if decide(clock.Now().Add(rotationPoll)); checked != 4 {
		t.Error("it is not checked when it has changed")
	}
}
