package etcdcluster

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/dump"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// settledPass is a pass that has written all certificates of a cluster, recorded whom members trust, and read everything again.
func settledPass(t *testing.T) (*Reconciler, *pass) {
	t.Helper()
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.live, p.before, p.observed.Cluster.ID = true, &v1beta2.EtcdClusterStatus{}, 1
	p.before.Bootstrap = &v1beta2.BootstrapStatus{Members: []string{"c-0"}}
	p.transport, p.cluster.Spec.TLS = member.Transport{PeerTLS: true, ClientTLS: true}, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	p.sides, p.observed.Cluster.Transport = p.transport, p.transport
	for range 5 {
		must(t, r.decideCertificates(t.Context(), p))
		must(t, r.applyCertificates(t.Context(), p))
		p.before.Authorities, p.before.Roots = p.authorities(), p.roots()
		p.before.TLS = &v1beta2.TLSStatus{TrustSecret: p.trustSecret()}
	}
	if len(p.certified.secrets) != 5 || len(p.certified.Writes) > 0 {
		t.Fatalf("there are the Secrets %q, and %d are to be written", slices.Sorted(maps.Keys(p.certified.secrets)), len(p.certified.Writes))
	}
	return r, p
}

// TestKeysAreNotKept keeps of all certificates and private keys those by which the operator connects itself, and nothing else, between two
// readings of a cluster's Secrets; and all that a write, status and the planner ask for.
func TestKeysAreNotKept(t *testing.T) {
	r, p := settledPass(t)
	kept := dump.ForHash(p.certified)
	if own := bytesIn(p.certified.Operator.Key); !strings.Contains(kept, own) {
		t.Fatalf("what is kept cannot be searched: it lacks the operator's own key")
	}
	all := &corev1.SecretList{}
	must(t, r.Client.List(t.Context(), all))
	searched := 0
	for _, secret := range all.Items {
		for key, value := range secret.Data {
			roots := strings.HasSuffix(key, "ca.crt") || bytes.Equal(value, p.certified.Operator.Roots) // the operator has the same
			if !roots && key != certificates.KeyEndpoints {
				if searched++; strings.Contains(kept, bytesIn(value)) {
					t.Errorf("%s of Secret %s is kept", key, secret.Name)
				}
			}
		}
		o := p.certified.secrets[secret.Name]
		if o == nil || o.uid != secret.UID || o.version != secret.ResourceVersion || !slices.Equal(o.names(), slices.Sorted(maps.Keys(secret.Data))) {
			t.Errorf("of Secret %s is kept %+v", secret.Name, o)
		}
	}
	if searched < 13 { // the authorities but the one of servers, and the pairs of the member, of agents and, twice, of applications
		t.Errorf("%d certificates and keys were searched for", searched)
	}
	if held := p.authorities(); !slices.Equal(held, p.certified.Authorities) || len(held) != 2 {
		t.Errorf("status records the authorities %q of %q", held, p.certified.Authorities)
	}
	if left := p.untold(); left != (untold{}) {
		t.Errorf("applications are not told where to connect: %+v", left)
	}
	if config := p.clientConfig(); config == nil || p.operatorName() != "root" {
		t.Errorf("the operator connects as %q with %v", p.operatorName(), config)
	}
}

// bytesIn is how bytes show in a dump.
func bytesIn(value []byte) string {
	_, text, _ := strings.Cut(dump.ForHash(value), ")") // the type
	return strings.Trim(text, "[]")
}

// TestForgottenTrust writes no trust Secret without what it is to hold: once the Secret is there that is forgotten, and it is decided on again
// when the Secrets are read next.
func TestForgottenTrust(t *testing.T) {
	r, p := settledPass(t)
	trust := p.trustSecret()
	if p.certified.Trust != nil || p.certified.secrets[trust] == nil {
		t.Fatalf("of Secret %s is kept %v", trust, p.certified.Trust)
	}
	delete(p.certified.secrets, trust)
	if writes := secretsFor(p, time.Time{}); len(writes) > 0 {
		t.Errorf("it writes %s with %d keys", writes[0].Name, len(writes[0].Data))
	}
	gone := &corev1.Secret{}
	gone.Namespace, gone.Name = p.cluster.Namespace, trust
	must(t, r.Client.Delete(t.Context(), gone))
	must(t, r.decideCertificates(t.Context(), p))
	writes := secretsFor(p, time.Time{})
	if len(writes) != 1 || writes[0].Name != trust || certificates.TrustName(p.cluster.Name, certificates.Hash(writes[0].Data)) != trust {
		t.Errorf("once it is read that Secret %s is gone, %d Secrets are written", trust, len(writes))
	}
}

// TestOutlineOfApplications tells whether a Secret says where to connect now, and not where it was to be before.
func TestOutlineOfApplications(t *testing.T) {
	_, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	secret := &corev1.Secret{Data: map[string][]byte{certificates.KeyEndpoints: []byte(resources.ClientURL(p.cluster))}}
	if got := p.outlineOf(secret).endpoints; got != resources.ClientURL(p.cluster) {
		t.Errorf("it says %q", got)
	}
	secret.Data[certificates.KeyEndpoints] = []byte("https://elsewhere:2379")
	if got := p.outlineOf(secret).endpoints; got != "" {
		t.Errorf("elsewhere: it says %q", got)
	}
}
