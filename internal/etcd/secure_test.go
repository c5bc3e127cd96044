package etcd_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const serverName = "m-0.example.default.svc"

// authority signs certificates.
type authority struct{ *pki.Pair }

func newAuthority(t *testing.T) authority {
	t.Helper()
	pair, err := pki.NewAuthority(rand.Reader, "ca", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return authority{pair}
}

// issue makes a certificate for this name, good for servers and clients.
func (a authority) issue(t *testing.T, name string) tls.Certificate {
	t.Helper()
	made, err := pki.Issue(rand.Reader, a.Pair, pki.Request{
		CommonName: name, Names: []string{name}, Now: time.Now(), Lifetime: time.Hour,
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{made.Leaf().Raw}, PrivateKey: made.Key}
}

// client is the TLS configuration of someone with that name.
func (a authority) client(t *testing.T, name string) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(a.Leaf())
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{a.issue(t, name)}}
}

// files are those of a server: its authorities, its certificate and its key.
func (a authority) files(t *testing.T) (ca, crt, pk string) {
	t.Helper()
	dir, certificate := t.TempDir(), a.issue(t, serverName)
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("ca.crt", "CERTIFICATE", a.Leaf().Raw),
		write("server.crt", "CERTIFICATE", certificate.Certificate[0]), write("server.key", "PRIVATE KEY", key)
}

// server makes an option for servers that want client certificates of this authority.
func (a authority) server(t *testing.T) func(*embed.Config) {
	t.Helper()
	ca, crt, pk := a.files(t)
	return func(c *embed.Config) {
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile = crt, pk
		c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = ca, true
		c.ListenClientUrls, c.AdvertiseClientUrls = slices.Clone(c.ListenClientUrls), slices.Clone(c.AdvertiseClientUrls)
		c.ListenClientUrls[0].Scheme, c.AdvertiseClientUrls[0].Scheme = "https", "https"
	}
}

// The address is an IP address, the certificate names a host: the endpoint brings them together.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	c := embedtest.Start(t, 1, ca.server(t))
	tests := []struct {
		name       string
		config     *tls.Config
		serverName string
		want       plan.Contact
	}{
		{"trusted", ca.client(t, "root"), serverName, plan.ContactQuorum},
		{"another host's certificate", ca.client(t, "root"), "m-1.example.default.svc", plan.ContactNone},
		{"another authority", newAuthority(t).client(t, "root"), serverName, plan.ContactNone},
		{"plain", nil, serverName, plan.ContactNone},
	}
	pool := newPool(t) // one for all: no connection may serve another identity
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := endpoints(c.Members...)
			e[0].ServerName = test.serverName
			if seen := pool.Observe(t.Context(), "default/a", test.config, voting(c.ID, e), e).Seen; seen.Contact != test.want {
				t.Errorf("contact %d, want %d", seen.Contact, test.want)
			}
		})
	}
}

// enableAuth makes root the administrator, and reader a user that may do nothing but log in.
func enableAuth(t *testing.T, config clientv3.Config) {
	t.Helper()
	client, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	steps := []func() error{
		func() error { _, err := client.UserAdd(ctx, "root", "secret"); return err },
		func() error { _, err := client.RoleAdd(ctx, "root"); return err },
		func() error { _, err := client.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := client.UserAdd(ctx, "reader", "secret"); return err },
		func() error { _, err := client.AuthEnable(ctx); return err },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	c := embedtest.Start(t, 1, ca.server(t))
	root, reader := ca.client(t, "root"), ca.client(t, "reader")
	pool := newPool(t)
	observe := func(config *tls.Config) *etcd.Session {
		e := endpoints(c.Members...)
		e[0].ServerName = serverName
		return pool.Observe(t.Context(), t.Name(), config, voting(c.ID, e), e)
	}
	if s := observe(root); s.Seen.Contact != plan.ContactQuorum { // also awaits the server
		t.Fatalf("before: %+v", s.Seen)
	}
	enableAuth(t, clientv3.Config{
		Endpoints: []string{"https://" + c.Members[0].Address}, TLS: root,
		DialOptions: []grpc.DialOption{grpc.WithAuthority(serverName)},
	})

	s := observe(root)
	if s.Seen.Contact != plan.ContactQuorum || s.Seen.Revision < 1 {
		t.Errorf("root: %+v", s.Seen)
	}
	if err := s.AddLearner(t.Context(), "http://127.0.0.1:1"); err != nil {
		t.Errorf("root: %v", err)
	}

	s = observe(reader)
	if s.Seen.Contact != plan.ContactQuorum || s.Seen.Revision != 0 || len(s.Seen.Members) != 2 {
		t.Errorf("somebody who may not read keys: %+v", s.Seen)
	}
	err := s.Remove(t.Context(), 42)
	if err == nil || errors.Is(err, etcd.ErrNotYet) {
		t.Errorf("a change without permission: %v", err)
	}
}

// Who is refused sees no quorum: an empty member list would say that no one is a member.
func TestAuthenticationWithoutIdentity(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1)
	enableAuth(t, clientv3.Config{Endpoints: []string{"http://" + c.Members[0].Address}})
	e := endpoints(c.Members...)
	session := newPool(t).Observe(t.Context(), t.Name(), nil, voting(c.ID, e), e)
	seen := session.Seen
	if denied := session.Denied(); denied != "etcdserver: user name is empty" {
		t.Errorf("it is denied by %q", denied)
	}
	if seen.Contact != plan.ContactMinority || seen.Members != nil || len(seen.Answers) != 1 {
		t.Fatalf("seen %+v", seen)
	}
	if a := seen.Answers[0]; !slices.Equal(a.Errors, []string{"etcdserver: user name is empty"}) || a.MemberID != 0 {
		t.Errorf("answer %+v, want only the refusal", a)
	}
}
