package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// TestEtcd runs etcd with TLS between members and with clients, and replaces leaves while it runs.
func TestEtcd(t *testing.T) {
	c := managed(t, "m-0", "m-1", "m-2")
	c.o.Now = time.Now()
	c.run()
	dir := t.TempDir()
	c.files(dir)
	cluster := embedtest.Start(t, 3, func(config *embed.Config) { secure(config, dir) })
	c.put(cluster.Members[0].Address)

	leaf := fingerprint(t, c.o.Published["m-0"]["server.crt"])
	c.o.Rotate, c.o.Now = "leaves:1", c.o.Now.Add(2*time.Second)
	c.settle()
	c.files(dir)
	if served := c.put(cluster.Members[0].Address); served == leaf || served != fingerprint(t, c.o.Published["m-0"]["server.crt"]) {
		t.Errorf("%s serves the leaf %s, before %s", cluster.Members[0].Name, served, leaf)
	}
}

// secure has a server use what is in its folder.
func secure(config *embed.Config, dir string) {
	at := func(key string) string { return filepath.Join(dir, config.Name, key) }
	for _, side := range []struct {
		info *transport.TLSInfo
		half half
	}{{&config.PeerTLSInfo, peers}, {&config.ClientTLSInfo, clients}} {
		side.info.CertFile, side.info.KeyFile = at(side.half.certificate), at(side.half.key)
		side.info.TrustedCAFile, side.info.ClientCertAuth = at(side.half.ca), true
	}
	// The address that everything has here is none of a member's names, and they do not resolve: who connects to a member looks for
	// the name that all have in common, and a member takes who connects for what it says.
	config.PeerTLSInfo.ServerName, config.PeerTLSInfo.SkipClientSANVerify = "db.prod.svc", true
	for _, urls := range [][]url.URL{config.ListenPeerUrls, config.AdvertisePeerUrls, config.ListenClientUrls, config.AdvertiseClientUrls} {
		for i := range urls {
			urls[i].Scheme = "https"
		}
	}
}

// files writes what each member's pod has mounted.
func (c *cluster) files(dir string) {
	c.t.Helper()
	for _, pod := range c.o.Pods {
		if err := os.MkdirAll(filepath.Join(dir, pod.Name), 0o700); err != nil {
			c.t.Fatal(err)
		}
		for _, data := range []map[string][]byte{c.o.Published[pod.Name], pod.Trust} {
			for key, value := range data {
				if err := os.WriteFile(filepath.Join(dir, pod.Name, key), value, 0o600); err != nil {
					c.t.Fatal(err)
				}
			}
		}
	}
}

// put writes a key as the operator connects, and returns the fingerprint of what the server presents.
func (c *cluster) put(address string) (served string) {
	c.t.Helper()
	pair, err := tls.X509KeyPair(c.o.Operator.Certificate, c.o.Operator.Key)
	if err != nil {
		c.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.o.Operator.Roots)
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: roots}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + address}, TLS: config, Context: c.t.Context()})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if _, err := client.Put(c.t.Context(), "key", "value"); err != nil {
		c.t.Fatal(err)
	}
	dialed, err := (&tls.Dialer{Config: config}).DialContext(c.t.Context(), "tcp", address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = dialed.Close() }()
	connection, ok := dialed.(*tls.Conn)
	if !ok {
		c.t.Fatalf("it is a %T", dialed)
	}
	return pki.Fingerprint(connection.ConnectionState().PeerCertificates[0])
}
