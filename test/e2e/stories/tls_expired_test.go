package stories

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestTLSExpired has every certificate of a cluster expire while the operator is away, and every member restart with them. With the
// operator back the cluster is to heal without anybody's help, and without a new pod. It has the lab for itself, for it takes the operator
// away.
func TestTLSExpired(t *testing.T) {
	s := begin(t, "tls-expired", overTLS(3))
	s.settled()
	s.client()
	before := s.uids()
	s.scaleOperator("0")
	t.Cleanup(func() { s.within(t).scaleOperator("1") })
	s.expire()
	must(t, harness.Await(t.Context(), "every member serves what has expired", limit, s.servesExpired))
	for _, name := range []string{"tls-expired-0", "tls-expired-1", "tls-expired-2"} {
		must(t, nodes.Faults().KillContainer(t.Context(), s.Namespace+"/"+name+"/etcd"))
	}
	must(t, harness.Await(t.Context(), "no member is ready", limit, s.noneReady))

	start := time.Now()
	s.scaleOperator("1")
	waits := s.commands("tls.md", "When all certificates have expired", "condition=CertificatesValid")
	s.reader().runs(strings.ReplaceAll(waits, "etcdcluster/example ", "etcdcluster/"+s.Name+" "))
	s.t.Logf("available %.1f s after the operator was started", time.Since(start).Seconds())
	s.settled()
	s.report("all certificates had expired")
	if now := s.uids(); now != before {
		t.Errorf("pods %s have become %s", before, now)
	}
	must(t, s.writer.Stop(t.Context()))
}

// scaleOperator waits until so many operators run. Its own context lets it run at the end of a story, too.
func (s *story) scaleOperator(replicas string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	must(s.t, env.Run(ctx, "scale", "-n", harness.OperatorNamespace, "deployment/"+operatorDeployment, "--replicas="+replicas))
	must(s.t, harness.Await(ctx, replicas+" operators", limit, func(ctx context.Context) (string, bool) {
		pods, err := operators(ctx)
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprint(len(pods)), fmt.Sprint(len(pods)) == replicas
	}))
}

// expire replaces every certificate that the operator has issued by one of the same authority that has expired, and has the kubelets
// update the members' files soon.
func (s *story) expire() {
	s.t.Helper()
	ca := s.ownSecret(s.Name + "-ca")
	authorities := map[string]*pki.Pair{}
	for _, side := range []string{"peer", "server"} {
		authority, err := pki.ParsePair(
			pki.Text{Name: side, PEM: ca.Data[side+".crt"]}, pki.Text{Name: side, PEM: ca.Data[side+".key"]})
		must(s.t, err)
		authorities[side] = authority
	}
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	names := []string{s.Name + "-client", s.Name + "-agent"}
	for _, pod := range pods {
		names = append(names, pod.Name+"-tls")
	}
	for _, name := range names {
		secret := s.ownSecret(name)
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			use, isLeaf := strings.CutSuffix(key, ".crt")
			if !isLeaf || secret.Data[use+".key"] == nil {
				continue // authorities
			}
			authority := authorities["server"]
			if use == "peer" {
				authority = authorities["peer"]
			}
			secret.Data[key], secret.Data[use+".key"] = s.expired(authority, key, secret.Data[key])
		}
		must(s.t, env.Update(s.t.Context(), secret))
	}
	for _, pod := range pods {
		before := pod.DeepCopy()
		pod.Annotations["story"] = "expired"
		must(s.t, s.Patch(s.t.Context(), &pod, client.MergeFrom(before)))
	}
}

// expired is a certificate that was valid for a second after its authority was made, and says the same as this one, with a key of its own.
func (s *story) expired(by *pki.Pair, name string, text []byte) (certificate, key []byte) {
	s.t.Helper()
	chain, err := pki.ParseCertificates(pki.Text{Name: name, PEM: text})
	must(s.t, err)
	return certified(s.t, by, pki.Request{
		CommonName: chain[0].Subject.CommonName, Names: chain[0].DNSNames, Usages: chain[0].ExtKeyUsage,
		Now: by.Leaf().NotBefore.Add(pki.Backdate), Lifetime: time.Second,
	})
}

func (s *story) ownSecret(name string) *corev1.Secret {
	s.t.Helper()
	secret := &corev1.Secret{}
	must(s.t, env.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, secret))
	return secret
}

// servesExpired holds when every member presents certificates that have expired, to peers and to clients.
func (s *story) servesExpired(ctx context.Context) (string, bool) {
	pods, err := s.Pods(ctx)
	if err != nil {
		return err.Error(), false
	}
	for _, pod := range pods {
		for _, port := range []string{"2379", "2380"} {
			dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: 2 * time.Second}, Config: &tls.Config{
				MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS13, InsecureSkipVerify: true,
			}}
			conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(pod.Status.PodIP, port))
			if err != nil {
				return err.Error(), false
			}
			secure, ok := conn.(*tls.Conn)
			end := time.Now()
			if ok {
				end = secure.ConnectionState().PeerCertificates[0].NotAfter
			}
			_ = conn.Close() // nothing was said
			if time.Now().Before(end) {
				return fmt.Sprintf("%s presents a certificate valid until %s on port %s", pod.Name, end, port), false
			}
		}
	}
	return "", len(pods) > 0
}

// noneReady holds when the kubelets call no member ready.
func (s *story) noneReady(ctx context.Context) (string, bool) {
	pods, err := s.Pods(ctx)
	if err != nil {
		return err.Error(), false
	}
	for _, pod := range pods {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				return pod.Name + " is ready", false
			}
		}
	}
	return "", true
}

// TestTLSVersions replaces all certificates of a cluster of each minor version of etcd but the default, under a client that must not notice.
func TestTLSVersions(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{"tls-35": "3.5.35", "tls-37": "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			spec := overTLS(3)
			spec.Version = version
			s := begin(t, name, spec)
			s.settled()
			s.client()
			s.keepsOut()
			start := time.Now()
			s.rotate("leaves:1")
			s.faultless("all certificates replaced", start)
			must(t, s.writer.Stop(t.Context()))
		})
	}
}
