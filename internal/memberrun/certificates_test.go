package memberrun

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

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

// issue makes a certificate in PEM for 127.0.0.1, good until then.
func (a authority) issue(t *testing.T, until time.Time) (certificate, key string) {
	t.Helper()
	made, err := pki.Issue(rand.Reader, a.Pair, pki.Request{
		CommonName: "db", Names: []string{"127.0.0.1"}, Now: until.Add(-time.Hour), Lifetime: time.Hour,
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		t.Fatal(err)
	}
	cert, private, err := made.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(cert), string(private)
}

func (a authority) text() string { return string(pki.Encode(a.Chain)) }

// secure gives the pod TLS for its peers and its clients, with these authorities.
func (p *pod) secure(peers, clients authority) {
	p.t.Helper()
	p.transport = member.Transport{PeerTLS: true, ClientTLS: true}
	exchange(p.t, pathsIn(p.dir).Certificates, nil)
	p.mount(member.PeerCertFile, member.PeerKeyFile, member.PeerAuthoritiesFile, peers)
	p.mount(member.ServerCertFile, member.ServerKeyFile, member.ServerAuthoritiesFile, clients)
}

func (p *pod) mount(certFile, keyFile, authoritiesFile string, a authority) {
	p.t.Helper()
	cert, key := a.issue(p.t, a.Leaf().NotAfter)
	write(p.t, p.certificate(certFile), cert)
	write(p.t, p.certificate(keyFile), key)
	write(p.t, filepath.Join(pathsIn(p.dir).Trust, authoritiesFile), a.text())
}

func (p *pod) certificate(file string) string {
	return filepath.Join(pathsIn(p.dir).Certificates, file)
}

// secureEtcd is a client with a certificate of its own.
func (p *pod) secureEtcd(a authority) *clientv3.Client {
	p.t.Helper()
	cert, key := a.issue(p.t, a.Leaf().NotAfter)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		p.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.Leaf())
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"https://" + p.client}, Context: p.t.Context(), Logger: zap.NewNop(),
		TLS: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestSecuredLearner has a joiner with a certificate of strangers first, which the first member refuses: the permit must not be used up
// by it. With one that it accepts the joiner goes on by itself: the kubelet replaces the files of a running container.
func TestSecuredLearner(t *testing.T) {
	peers, clients := newAuthority(t), newAuthority(t)
	first := newPod(t, "db-0")
	first.secure(peers, clients)
	permit := firstPermit(t, first)
	first.permit(permit)
	first.run()
	first.serves("/readyz")

	joiner := newPod(t, "db-1")
	joiner.secure(peers, clients)
	good := map[string]string{}
	for _, file := range []string{member.PeerCertFile, member.PeerKeyFile} {
		text, err := os.ReadFile(joiner.certificate(file))
		if err != nil {
			t.Fatal(err)
		}
		good[file] = string(text)
	}
	joiner.mount(member.PeerCertFile, member.PeerKeyFile, "unused", newAuthority(t))
	etcd := first.secureEtcd(clients)
	added, err := etcd.MemberAddAsLearner(t.Context(), []string{joiner.peerURL()})
	if err != nil {
		t.Fatal(err)
	}
	joiner.permit(member.Permit{
		Mode: member.ModeJoin, ClusterID: permit.ClusterID, MemberID: member.ID(added.Member.ID),
		InitialCluster: permit.InitialCluster + "," + joiner.name + "=" + joiner.peerURL(),
		Token:          permit.Token, PodUID: joiner.uid, Attempt: 1,
	})
	joiner.run()
	joiner.says("waiting until etcd may start")
	if err := joiner.end(syscall.SIGTERM); err != nil {
		t.Fatalf("it ended with %v:\n%s", err, joiner.said())
	}
	joiner.run()
	joiner.says("waiting until etcd may start")
	exchange(t, pathsIn(joiner.dir).Certificates, good)
	joiner.serves("/livez")
	promote(t, etcd, added.Member.ID)
	joiner.serves("/readyz")
}

// exchange replaces files in a folder as the kubelet does: all of them at once, by another link.
func exchange(t *testing.T, dir string, changed map[string]string) {
	t.Helper()
	next, err := os.MkdirTemp(filepath.Dir(dir), "volume-") //nolint:usetesting // renamed within one file system
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		if err := os.CopyFS(next, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range changed {
		if remove(t, filepath.Join(next, name)); text != missing {
			write(t, filepath.Join(next, name), text)
		}
	}
	if err := os.Symlink(next, dir+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+".new", dir); err != nil {
		t.Fatal(err)
	}
}

// TestBadCertificates lists files that etcd would end with, or that would leave it without peers. The refusal names the file, and what
// was permitted stays so: with good ones the member starts.
func TestBadCertificates(t *testing.T) {
	peers, clients := newAuthority(t), newAuthority(t)
	for name, c := range map[string]struct {
		file, content string
		want          string
	}{
		"no certificate":           {member.PeerCertFile, "", "peer.crt and peer.key cannot be used"},
		"no PEM":                   {member.ServerCertFile, "garbage", "server.crt and server.key cannot be used"},
		"a key of another pair":    {member.PeerKeyFile, keyOf(t, peers), "private key does not match"},
		"a missing key":            {member.ServerKeyFile, missing, "server.key cannot be read: no such file"},
		"no authorities":           {member.PeerAuthoritiesFile, "", "peer-ca.crt cannot be used: it holds no certificate"},
		"authorities that are not": {member.ServerAuthoritiesFile, string(pki.Encode([]*x509.Certificate{{Raw: []byte("x")}})), "server-ca.crt cannot be used: block 1"},
		"missing authorities":      {member.ServerAuthoritiesFile, missing, "server-ca.crt cannot be read: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, "db-0")
			p.secure(peers, clients)
			p.permit(firstPermit(t, p))
			path := p.certificate(c.file)
			if strings.HasSuffix(c.file, "-ca.crt") {
				path = filepath.Join(pathsIn(p.dir).Trust, c.file)
			}
			if remove(t, path); c.content != missing {
				write(t, path, c.content)
			}
			for range 2 {
				p.run()
				p.refused(member.BadCertificates, 0)
			}
			words, err := os.ReadFile(pathsIn(p.dir).Termination)
			if refusal, ok := member.ParseRefusal(string(words)); err != nil || !ok || !strings.Contains(refusal.Message, c.want) ||
				strings.Contains(refusal.Message, p.dir) {
				t.Errorf("it says %q, %v; want %q", words, err, c.want)
			}
			if _, err := os.Stat(p.data); !os.IsNotExist(err) {
				t.Errorf("it touched the data directory: %v", err)
			}
			p.secure(peers, clients)
			p.run()
			p.serves("/readyz")
		})
	}
}

// missing stands for a file that does not exist.
const missing = "missing"

func keyOf(t *testing.T, a authority) string {
	t.Helper()
	_, key := a.issue(t, a.Leaf().NotAfter)
	return key
}

// TestExpiredCertificates holds that a member starts with what is out of date: it serves as soon as another leaf is published, without a
// restart.
func TestExpiredCertificates(t *testing.T) {
	peers, clients := newAuthority(t), newAuthority(t)
	p := newPod(t, "db-0")
	p.secure(peers, clients)
	good := map[string]string{}
	for _, file := range []string{member.ServerCertFile, member.ServerKeyFile} {
		text, err := os.ReadFile(p.certificate(file))
		if err != nil {
			t.Fatal(err)
		}
		good[file] = string(text)
	}
	cert, key := clients.issue(t, time.Now().Add(-time.Minute))
	exchange(t, pathsIn(p.dir).Certificates, map[string]string{member.ServerCertFile: cert, member.ServerKeyFile: key})
	p.permit(firstPermit(t, p))
	p.run()
	p.serves("/readyz")
	exchange(t, pathsIn(p.dir).Certificates, good)
	if _, err := p.secureEtcd(clients).Get(t.Context(), "key"); err != nil {
		t.Errorf("with another leaf: %v", err)
	}
}
