package etcdcluster_test

import (
	"crypto/rand"
	"crypto/x509"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// give creates the user's Secrets, with certificates of the authorities that the cluster has already, and turns to them. The operator's
// has that common name.
func (w *authWorld) give(own *corev1.Secret, operator string) *v1beta2.EtcdCluster {
	w.Helper()
	for use, name := range map[string]string{"peer": "", "server": "", "etcd-client": operator} {
		from := "server"
		if use == "peer" {
			from = use
		}
		authority, err := pki.ParsePair(pki.Text{PEM: own.Data[from+".crt"]}, pki.Text{PEM: own.Data[from+".key"]})
		must(w.T, err)
		leaf, err := pki.Issue(rand.Reader, authority, pki.Request{
			CommonName: name, Names: []string{"*.idle.test.svc", "idle.test.svc", "idle-client.test.svc", "localhost"}, Now: time.Now(), Lifetime: time.Hour,
			Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		})
		must(w.T, err)
		certificate, key, err := leaf.Encode()
		must(w.T, err)
		must(w.T, client.IgnoreAlreadyExists(w.api.Create(w.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "given-" + use + "-" + operator},
			Data:       map[string][]byte{use + ".crt": certificate, use + ".key": key, use + "-ca.crt": own.Data[from+".crt"]},
		})))
	}
	c := w.read()
	c.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member:         &v1beta2.MemberSecret{PeerSecret: "given-peer-" + operator, ServerSecret: "given-server-" + operator},
		OperatorSecret: "given-etcd-client-" + operator,
	}}
	c.Generation++
	must(w.T, w.api.Update(w.Context(), c))
	for range 20 { // while the source is refused, it is never quiet
		w.pass()
	}
	return w.read()
}

// authorities are those of a cluster in mode managed: in mode static, the operator forgets their keys.
func (w *authWorld) authorities() *corev1.Secret {
	w.Helper()
	own := &corev1.Secret{}
	must(w.T, w.api.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: "idle-ca"}, own))
	return own
}

// operatorName is the common name that the operator and the agents have.
func (w *authWorld) operatorName() string {
	w.Helper()
	agent := &corev1.Secret{}
	must(w.T, w.api.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: "idle-agent"}, agent))
	chain, err := pki.ParseCertificates(pki.Text{PEM: agent.Data[certificates.KeyClientCertificate]})
	must(w.T, err)
	return chain[0].Subject.CommonName
}

// TestAuthByHand switches etcd's authentication on with etcdctl after the operator has asked, and before it asks again: no source makes the
// operator another user than root then, although status says nothing. While it is off, one does.
func TestAuthByHand(t *testing.T) {
	for title, on := range map[string]bool{"on": true, "off": false} {
		t.Run(title, func(t *testing.T) {
			w := newAuthWorld(t)
			w.settle()
			own := w.authorities()
			w.give(own, "root")
			w.auth.set(on)
			c := w.give(own, "operator")
			problem := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionCertificatesValid)
			if on && (problem == nil || problem.Reason != v1beta2.ReasonOperatorNotRoot || w.operatorName() != "root" || c.Status.Auth == nil || !c.Status.Auth.Enabled) {
				t.Errorf("the operator is %s; %+v; %+v", w.operatorName(), problem, c.Status.Auth)
			}
			if !on && w.operatorName() != "operator" {
				t.Errorf("the operator is %s; %+v", w.operatorName(), problem)
			}
			if !on {
				return
			}
			if c = w.give(own, "root"); w.operatorName() != "root" || !meta.IsStatusConditionTrue(c.Status.Conditions, v1beta2.ConditionCertificatesValid) {
				t.Errorf("corrected: %+v", c.Status.Conditions)
			}
		})
	}
}
