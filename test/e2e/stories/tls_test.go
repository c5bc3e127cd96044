package stories

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// rotationLimit is how long a rotation may take to be noticed and carried out.
const rotationLimit = 15 * time.Minute

// TestTLS is the life of a cluster with TLS: strangers stay out, and certificates are replaced under a client that must not notice.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := begin(t, "tls", overTLS(3))
	s.settled()
	s.client()
	s.keepsOut()

	start, r := time.Now(), s.reader()
	named := strings.NewReplacer(" example ", " "+s.Name+" ")
	r.runs(named.Replace(s.commands("tls.md", "Rotation", "rotate=leaves",
		"kubectl annotate etcdcluster example --overwrite etcd.database.coreos.com/rotate=ca")))
	s.rotated()
	s.faultless("all certificates replaced", start)
	if out := r.runs(named.Replace(s.commands("tls.md", "See when certificates expire", "status.tls.certificates"))); !strings.Contains(out, " "+s.Name+"-client\n") {
		t.Errorf("it is not shown when the certificates expire: %s", out)
	}
	gone := s.pod("tls-1").UID
	must(t, s.KillPod(t.Context(), "tls-1"))
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("a pod killed")
	must(t, s.writer.Stop(t.Context()))
}

// TestTLSAuthorities replaces the authorities under a client that reads its files for each connection.
func TestTLSAuthorities(t *testing.T) {
	t.Parallel()
	s := begin(t, "tls-authorities", overTLS(3))
	s.settled()
	s.client()
	start := time.Now()
	commands := s.commands("tls.md", "Rotation", "rotate=leaves",
		"kubectl annotate etcdcluster example --overwrite etcd.database.coreos.com/rotate=leaves")
	s.reader().runs(strings.ReplaceAll(commands, " example ", " "+s.Name+" "))
	s.rotated()
	s.faultless("all authorities replaced", start)
	s.keepsOut()
	must(t, s.writer.Stop(t.Context()))
}

// TestTLSBackup backs a cluster with TLS up and restores it.
func TestTLSBackup(t *testing.T) {
	t.Parallel()
	s := begin(t, "tls-backup", overTLS(1))
	s.settled()
	storage := s.minio()
	s.puts("before", 20)
	s.backup("first", storage, func(*v1beta2.EtcdBackupSpec) {})
	s.backedUp("first")
	s.puts("after", 10)
	s.restore("back", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "first"}})
	s.restored("back")
	s.healthy("restored")
	s.has("before", 20)
	s.has("after", 0)
}

// TestStaticTLS runs a cluster on Secrets in coreos/etcd-operator's layout, goes on when one of them breaks, follows another authority,
// and then has the operator issue the certificates.
func TestStaticTLS(t *testing.T) {
	t.Parallel()
	const name = "tls-static"
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent("story-"+name)))
	must(t, env.Namespace(t.Context(), "story-"+name))
	given := &givenSecrets{t: t, cluster: name, namespace: "story-" + name}
	given.write(time.Now())
	spec := onVolumes(3)
	spec.LegacyTLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member: &v1beta2.MemberSecret{PeerSecret: "peer", ServerSecret: "server"}, OperatorSecret: "etcd-client",
	}}
	s := beginIn(t, name, spec)
	s.settled()

	good := s.pod(name + "-0").UID
	given.breaks()
	// The user's Secrets are not watched, but read every five minutes.
	must(t, s.Says(t.Context(), v1beta2.ConditionCertificatesValid, v1beta2.ReasonCertificatesInvalid, rotationLimit))
	gone := s.pod(name + "-2").UID
	must(t, s.KillPod(t.Context(), name+"-2"))
	must(t, s.Recovered(t.Context(), gone, limit))
	if s.pod(name+"-0").UID != good {
		t.Error("a member was recreated because a source was broken")
	}
	given.write(time.Now())
	s.certified("another authority of the user's")
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.LegacyTLS, spec.TLS = nil, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	}))
	s.certified("from the user's certificates to the operator's")
	s.healthy("at the end")
}

// overTLS is a cluster on volumes with certificates by the operator.
func overTLS(size int32) v1beta2.EtcdClusterSpec {
	spec := onVolumes(size)
	spec.TLS = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	return spec
}

// rotate asks for other certificates, and waits until they are in use.
func (s *story) rotate(what string) {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	before := object.DeepCopy()
	object.Annotations = map[string]string{v1beta2.AnnotationRotate: what}
	must(s.t, s.Patch(s.t.Context(), object, client.MergeFrom(before)))
	s.rotated()
}

// rotated waits until the certificates that an annotation asks for are in use.
func (s *story) rotated() {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	what := object.Annotations[v1beta2.AnnotationRotate]
	must(s.t, harness.Await(s.t.Context(), what+" is done", rotationLimit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil || object.Status.TLS == nil {
			return fmt.Sprint(err), false
		}
		return harness.Words(object), what != "" && object.Status.TLS.Rotated == what && object.Status.TLS.Step == ""
	}))
	s.settled()
}

// certified waits until a change of the source has been carried out.
func (s *story) certified(what string) {
	s.t.Helper()
	start := time.Now()
	turning := false
	must(s.t, harness.Await(s.t.Context(), what, rotationLimit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil || object.Status.TLS == nil {
			return fmt.Sprint(err), false
		}
		turning = turning || object.Status.TLS.Step != ""
		valid := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionCertificatesValid)
		return harness.Words(object), turning && valid != nil && valid.Reason == v1beta2.ReasonCertificatesUsable
	}))
	s.t.Logf("%s took %.1f s", what, time.Since(start).Seconds())
}

// dropped is etcd's answer to a write while the leader hands over to another member, as in every update of the leader: the write was not
// made.
const dropped = "raft proposal dropped"

// faultless says what the client saw and fails the story if any operation has failed, but for those, and for those that end with a text
// that is allowed.
func (s *story) faultless(what string, since time.Time, allowed ...string) {
	s.t.Helper()
	r, err := s.writer.Report(s.t.Context())
	must(s.t, err)
	s.t.Logf("%s in %.1f s: %s", what, time.Since(since).Seconds(), r)
	if r.Lost > 0 || r.FailedBut(append(allowed, dropped)...) > 0 {
		s.t.Errorf("%s: %s", what, r)
	}
}

// keepsOut has clients without a certificate, or with one of another authority, try every port for peers and clients.
func (s *story) keepsOut() {
	s.t.Helper()
	other, err := pki.NewAuthority(rand.Reader, "other", time.Now(), time.Hour)
	must(s.t, err)
	made, err := pki.Issue(rand.Reader, other, pki.Request{
		CommonName: "root", Now: time.Now(), Lifetime: time.Hour, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	must(s.t, err)
	foreign := tls.Certificate{Certificate: [][]byte{made.Leaf().Raw}, PrivateKey: made.Key}
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	for _, pod := range pods {
		for what, config := range map[string]*tls.Config{
			"plain text":               nil,
			"no certificate":           {InsecureSkipVerify: true},
			"another authority's root": {InsecureSkipVerify: true, Certificates: []tls.Certificate{foreign}},
		} {
			for _, port := range []string{"2379", "2380"} {
				if err := reads(s.t.Context(), net.JoinHostPort(pod.Status.PodIP, port), config); err == nil {
					s.t.Errorf("with %s, port %s of %s lets anybody in", what, port, pod.Name)
				}
			}
		}
	}
}

// reads tries to read a key there.
func reads(ctx context.Context, address string, config *tls.Config) error {
	scheme := "http://"
	if config != nil {
		scheme = "https://"
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{scheme + address}, TLS: config, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err = etcd.Get(ctx, "k")
	return err
}

// givenSecrets are those that a user maintains.
type givenSecrets struct {
	t                  *testing.T
	cluster, namespace string
}

// write stores certificates of a new authority.
func (g *givenSecrets) write(now time.Time) {
	g.t.Helper()
	authority, err := pki.NewAuthority(rand.Reader, "user", now, 24*time.Hour)
	must(g.t, err)
	ca := pki.Encode(authority.Chain)
	domain := "." + g.cluster + "." + g.namespace + ".svc"
	for _, use := range []string{"peer", "server", "etcd-client"} {
		certificate, key := certified(g.t, authority, pki.Request{
			CommonName: use, Names: []string{"*" + domain, domain[1:], g.cluster + "-client." + g.namespace + ".svc", "localhost"},
			Now: now, Lifetime: 23 * time.Hour, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		})
		g.store(use, map[string][]byte{use + ".crt": certificate, use + ".key": key, use + "-ca.crt": ca})
	}
}

// certified has an authority issue a certificate with a key of its own.
func certified(t *testing.T, by *pki.Pair, r pki.Request) (certificate, key []byte) {
	t.Helper()
	leaf, err := pki.Issue(rand.Reader, by, r)
	must(t, err)
	certificate, key, err = leaf.Encode()
	must(t, err)
	return certificate, key
}

// breaks spoils one of them.
func (g *givenSecrets) breaks() {
	g.t.Helper()
	g.store("server", map[string][]byte{"server.crt": []byte("garbage")})
}

func (g *givenSecrets) store(name string, data map[string][]byte) {
	g.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: name}, Data: data}
	err := env.Create(g.t.Context(), secret)
	if client.IgnoreAlreadyExists(err) == nil && err != nil {
		err = env.Update(g.t.Context(), secret)
	}
	must(g.t, err)
}
