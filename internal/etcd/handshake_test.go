package etcd_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestHandshakes holds that a member which cannot be verified, or which refuses the operator, is told from one that is down.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	secure, plain := embedtest.Start(t, 1, ca.server(t)), embedtest.Start(t, 1)
	stranger, nobody := ca.client(t, "root"), ca.client(t, "root")
	stranger.Certificates = newAuthority(t).client(t, "root").Certificates
	nobody.Certificates = nil
	for name, c := range map[string]struct {
		config     *tls.Config
		serverName string
		address    string
		want       string
	}{
		"trusted":                          {ca.client(t, "root"), serverName, secure.Members[0].Address, ""},
		"a server of another authority":    {newAuthority(t).client(t, "root"), serverName, secure.Members[0].Address, "unknown authority"},
		"a server with another name":       {ca.client(t, "root"), "m-1.example.default.svc", secure.Members[0].Address, "not m-1.example"},
		"a client of another authority":    {stranger, serverName, secure.Members[0].Address, "remote error: tls: "},
		"a client without any":             {nobody, serverName, secure.Members[0].Address, "remote error: tls: "},
		"a server without TLS":             {ca.client(t, "root"), serverName, plain.Members[0].Address, ""},
		"nobody there":                     {ca.client(t, "root"), serverName, "127.0.0.1:1", ""},
		"one that takes connections only":  {ca.client(t, "root"), serverName, silent(t), ""},
		"one that closes them immediately": {ca.client(t, "root"), serverName, closing(t), ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := []etcd.Endpoint{{Pod: "m-0", PodUID: "uid", Address: c.address, ServerName: c.serverName}}
			pool := newPool(t)
			observe := func() []plan.HandshakeFailure {
				return pool.Observe(t.Context(), t.Name(), c.config, voting(secure.ID, e), e).Seen.Handshakes
			}
			if c.want == "" {
				if got := observe(); len(got) > 0 {
					t.Errorf("handshakes %+v", got)
				}
				return
			}
			// The server may close the connection before its alert is read.
			eventually(t, c.want, func() bool {
				got := observe()
				return len(got) == 1 && got[0].Pod == "m-0" && strings.Contains(got[0].Message, c.want)
			})
		})
	}
}

// TestHandshakesOfStrangers holds that nobody can have a handshake reported by creating a pod.
func TestHandshakesOfStrangers(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1)
	e := []etcd.Endpoint{{Pod: "stranger", PodUID: "uid", Address: c.Members[0].Address, ServerName: serverName}}
	electorate := plan.Electorate{ClusterID: c.ID, Voters: []string{"m-0"}}
	seen := newPool(t).Observe(t.Context(), t.Name(), newAuthority(t).client(t, "root"), electorate, e).Seen
	if len(seen.Handshakes) > 0 {
		t.Errorf("handshakes %+v", seen.Handshakes)
	}
}

// closing accepts connections and ends them.
func closing(t *testing.T) string {
	t.Helper()
	l := listener(t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// TestServed asks a real member, which demands a certificate that the test does not present.
func TestServed(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	c := embedtest.Start(t, 1, ca.server(t))
	got, err := etcd.Served(t.Context(), c.Members[0].Address)
	if err != nil {
		t.Fatal(err)
	}
	if want := presented(t, ca, c.Members[0].Address); got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	plain := embedtest.Start(t, 1)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() (string, error){
		"without TLS": func() (string, error) { return etcd.Served(t.Context(), plain.Members[0].Address) },
		"nobody":      func() (string, error) { return etcd.Served(t.Context(), "127.0.0.1:1") },
		"canceled":    func() (string, error) { return etcd.Served(canceled, c.Members[0].Address) },
		"closing":     func() (string, error) { return etcd.Served(t.Context(), closing(t)) },
	} {
		if got, err := ask(); err == nil || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// presented is the fingerprint of what the server presents to a client that it accepts.
func presented(t *testing.T, ca authority, address string) string {
	t.Helper()
	config := ca.client(t, "root")
	config.ServerName = serverName
	var leaf *x509.Certificate
	config.VerifyConnection = func(s tls.ConnectionState) error { leaf = s.PeerCertificates[0]; return nil }
	dialer := tls.Dialer{Config: config}
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	sum := sha256.Sum256(leaf.Raw)
	return hex.EncodeToString(sum[:])
}
