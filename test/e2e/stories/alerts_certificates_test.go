package stories

import (
	"crypto/rand"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// ownCertificates are made by a user's authority for a cluster.
type ownCertificates struct {
	t                  *testing.T
	cluster, namespace string
	authority          *pki.Pair
}

// certificateLife is that of a user's certificate, and expiresIn less than the tenth of it of which the operator warns.
const certificateLife, expiresIn = 24 * time.Hour, 2 * time.Hour

// issue makes the files of the Secret for a use, with a certificate that expires then.
func (o *ownCertificates) issue(use string, end time.Time) map[string][]byte {
	o.t.Helper()
	domain := o.cluster + "." + o.namespace + ".svc"
	certificate, key := certified(o.t, o.authority, pki.Request{
		CommonName: use, Names: []string{"*." + domain, domain, o.cluster + "-client." + o.namespace + ".svc", "localhost"},
		Now: end.Add(-certificateLife), Lifetime: certificateLife, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return map[string][]byte{use + ".crt": certificate, use + ".key": key, use + "-ca.crt": pki.Encode(o.authority.Chain)}
}

// withOwnCertificates is a cluster with certificates of a user's, all of them new.
func (s *alerted) withOwnCertificates() {
	const name = "own-certificates"
	now := time.Now()
	authority, err := pki.NewAuthority(rand.Reader, "user", now.Add(-certificateLife), 365*certificateLife)
	must(s.t, err)
	s.own = &ownCertificates{t: s.t, cluster: name, namespace: s.namespace, authority: authority}
	for _, use := range []string{"peer", "server", "etcd-client"} {
		must(s.t, env.Create(s.t.Context(), &corev1.Secret{ObjectMeta: s.object(use), Data: s.own.issue(use, now.Add(certificateLife))}))
	}
	spec := onVolumes(1)
	spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member: &v1beta2.MemberSecret{PeerSecret: "peer", ServerSecret: "server"}, OperatorSecret: "etcd-client",
	}}
	s.cluster(name, spec)
	s.words["SECRET"] = "server"
}

// forgetsThem has nearly all of the life of one be over.
func (s *alerted) forgetsThem() {
	secret := s.stored("server")
	secret.Data = s.own.issue("server", time.Now().Add(expiresIn))
	must(s.t, s.Client.Update(s.t.Context(), secret))
	s.rereads("old")
}

// renewsThem puts another one into the Secret.
func (s *alerted) renewsThem() {
	folder := s.t.TempDir()
	for name, data := range s.own.issue("server", time.Now().Add(certificateLife)) {
		must(s.t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	s.runs("SECRET", folder)
	s.rereads("new")
}

// rereads has the operator read the user's Secrets after an edit, as it does every five minutes.
func (s *alerted) rereads(label string) {
	s.t.Helper()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = map[string]string{"certificates": label} })
}
