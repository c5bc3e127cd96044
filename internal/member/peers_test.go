package member_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

var bothUsages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}

// TestWhoIsAPeer runs the etcd of TEST_ASSET_ETCD as member-run configures it: members with one certificate of wildcards, as
// coreos/etcd-operator asked for, are peers, and a client with a certificate of the same authority is none.
func TestWhoIsAPeer(t *testing.T) {
	t.Parallel()
	program := os.Getenv("TEST_ASSET_ETCD")
	if program == "" {
		t.Fatal("TEST_ASSET_ETCD is not set: run this with `make test-unit`")
	}
	ca, err := pki.NewAuthority(rand.Reader, "one for everything", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	// All have the same address here, which no name resolves to: so the members' certificate has it, too.
	peer := issued(t, ca, pki.Request{CommonName: "peer", Names: []string{"*.db.prod.svc", "127.0.0.1"}, Usages: bothUsages})
	stranger := issued(t, ca, pki.Request{CommonName: "client", Usages: bothUsages})
	members := []*process{newProcess(t, "db-0"), newProcess(t, "db-1")}
	for _, m := range members {
		m.run(t, program, members, peer, pki.Encode(ca.Chain))
	}
	awaitHealthy(t, members)
	roots := x509.NewCertPool()
	roots.AddCert(ca.Leaf())
	for _, m := range members {
		if err := talk(t.Context(), m.peer, roots, peer); err != nil {
			t.Errorf("%s refuses a member: %v", m.name, err)
		}
		if err := talk(t.Context(), m.peer, roots, stranger); err == nil {
			t.Errorf("%s takes a client for a peer", m.name)
		}
	}
}

// process is an etcd with ports of its own.
type process struct {
	name, dir, peer, client, metrics string
}

func newProcess(t *testing.T, name string) *process {
	t.Helper()
	p := &process{name: name, dir: t.TempDir()}
	for _, address := range []*string{&p.peer, &p.client, &p.metrics} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		*address = l.Addr().String()
	}
	return p
}

// run starts it, with the file that is rendered but for folders and ports.
func (p *process) run(t *testing.T, program string, all []*process, pair *pki.Pair, ca []byte) {
	t.Helper()
	certificate, key, err := pair.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{member.PeerCertFile: certificate, member.PeerKeyFile: key, member.PeerAuthoritiesFile: ca} {
		p.write(t, name, text)
	}
	transport := member.Transport{PeerTLS: true}
	host := member.Host(p.name, "db", "prod", "")
	var initial, urls []string
	for _, other := range all {
		initial = append(initial, other.name+"=https://"+member.Host(other.name, "db", "prod", "")+":2380")
		urls = append(urls, "https://"+member.Host(other.name, "db", "prod", "")+":2380", "https://"+other.peer)
	}
	config := member.Config{
		Name: p.name, PeerURL: member.PeerURL(host, transport), ClientURL: member.ClientURL(host, transport), DataDir: filepath.Join(p.dir, "data"),
		Transport: transport,
	}
	start := member.Start{State: member.StateNew, InitialCluster: strings.Join(initial, ","), Token: "t", ListenHost: "0.0.0.0"}
	p.start(t, program, config, start, append(urls, config.ClientURL, "http://"+p.client, member.CertificatesDir, p.dir, member.TrustDir, p.dir)...)
}

// start starts the program with the file that is rendered, but for its ports and what else is to be replaced in it.
func (p *process) start(t *testing.T, program string, config member.Config, start member.Start, replaced ...string) {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(string(version), "etcd Version: "), "\n")
	file, err := member.Render(config, start, number)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append(replaced, "://0.0.0.0:2379", "://"+p.client, "://0.0.0.0:2380", "://"+p.peer,
		"://0.0.0.0:2381", "://"+p.metrics)...).Replace(string(file))
	p.write(t, "etcd.yaml", []byte(text))
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	etcd := exec.CommandContext(t.Context(), program, "--config-file="+filepath.Join(p.dir, "etcd.yaml"))
	etcd.Stderr = log
	if err := etcd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = etcd.Wait() // it has ended with the context
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s: %s", p.name, text)
		}
	})
}

func (p *process) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// awaitHealthy waits for a quorum, which takes both of two.
func awaitHealthy(t *testing.T, members []*process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + members[0].client, "http://" + members[1].client}, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for {
		if _, err = client.Put(ctx, "key", "value"); err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("there is no quorum: %v", err)
		}
	}
}

// talk asks a member for its version on the port for peers.
func talk(ctx context.Context, address string, roots *x509.CertPool, pair *pki.Pair) error {
	dialer := &tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: roots,
		Certificates: []tls.Certificate{{Certificate: [][]byte{pair.Leaf().Raw}, PrivateKey: pair.Key}},
	}}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if _, err := fmt.Fprint(connection, "GET /version HTTP/1.0\r\n\r\n"); err != nil {
		return err
	}
	_, err = connection.Read(make([]byte, 1))
	return err
}

func issued(t *testing.T, ca *pki.Pair, r pki.Request) *pki.Pair {
	t.Helper()
	r.Now, r.Lifetime = time.Now(), time.Hour
	made, err := pki.Issue(rand.Reader, ca, r)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
