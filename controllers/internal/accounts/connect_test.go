package accounts_test

import (
	"crypto/rand"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestDamagedAuthority wants an EtcdUser to say which Secret was damaged, rather than that etcd has an unknown authority.
func TestDamagedAuthority(t *testing.T) {
	ca, err := pki.NewAuthority(rand.Reader, "ca", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := pki.Issue(rand.Reader, ca, pki.Request{
		CommonName: "root", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Now: time.Now(), Lifetime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := leaf.Encode()
	if err != nil {
		t.Fatal(err)
	}
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "1"}}
	c.Status.ClusterID, c.Status.Transport = "1", &v1beta2.TransportStatus{ClientTLS: true}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: certificates.AgentName("c"), OwnerReferences: []metav1.OwnerReference{resources.Owner(c)},
		},
		Data: map[string][]byte{
			certificates.KeyClientCertificate: certificate, certificates.KeyClientKey: key, certificates.KeyClientCA: []byte("damaged"),
		},
	}
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).WithObjects(secret).Build()
	p := &accounts.Pass{}
	to, err := p.Etcd(t.Context(), accounts.Target{Cluster: c}, api, api)
	if err != nil || to != nil {
		t.Fatalf("it connects: %v", err)
	}
	if problem := p.Observed.Problem; problem == nil || problem.Reason != v1beta2.ReasonWaitingForCluster ||
		!strings.Contains(problem.Message, "Secret c-agent by which the operator cannot connect: there is no authority to trust") {
		t.Errorf("the problem is %+v", problem)
	}
}
