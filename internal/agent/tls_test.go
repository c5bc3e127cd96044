package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// sign makes a certificate, of an authority itself if there is no other.
func sign(t *testing.T, c *x509.Certificate, by *authority) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if by == nil {
		by = &authority{c, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by.certificate, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{made, key}
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	return sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
}

// issue makes a certificate for this host, good for servers and clients.
func (a *authority) issue(t *testing.T) *authority {
	t.Helper()
	return sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "root"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a)
}

// files are a certificate with its key, and the authority's, in PEM.
func (a *authority) files(t *testing.T, by *authority) map[string][]byte {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	return map[string][]byte{
		task.KeyClientCertificate: block("CERTIFICATE", a.certificate.Raw), task.KeyClientKey: block("PRIVATE KEY", key),
		task.KeyClientCA: block("CERTIFICATE", by.certificate.Raw),
	}
}

// TestClientTLS backs up an etcd that wants certificates of its clients.
func TestClientTLS(t *testing.T) {
	ca, folder := newAuthority(t), t.TempDir()
	for name, data := range ca.issue(t).files(t, ca) {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cluster := embedtest.Start(t, 1, func(c *embed.Config) {
		c.ClientTLSInfo.CertFile = filepath.Join(folder, task.KeyClientCertificate)
		c.ClientTLSInfo.KeyFile = filepath.Join(folder, task.KeyClientKey)
		c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = filepath.Join(folder, task.KeyClientCA), true
		c.ListenClientUrls, c.AdvertiseClientUrls = slices.Clone(c.ListenClientUrls), slices.Clone(c.AdvertiseClientUrls)
		c.ListenClientUrls[0].Scheme, c.AdvertiseClientUrls[0].Scheme = "https", "https"
	})
	task := task.Task{Backup: &task.Backup{Endpoints: []string{"https://" + cluster.Members[0].Address}, TLS: true}}
	trusted := newPod(t)
	trusted.secret(trusted.dirs.TLS, ca.issue(t).files(t, ca))
	trusted.must(task)
	other := newAuthority(t)
	stranger := newPod(t)
	stranger.secret(stranger.dirs.TLS, other.issue(t).files(t, ca))
	stranger.fails(task, v1beta2.ReasonEtcdUnreachable, false)
	suspicious := newPod(t)
	suspicious.secret(suspicious.dirs.TLS, ca.issue(t).files(t, other))
	suspicious.fails(task, v1beta2.ReasonEtcdUnreachable, false)
}
