package stories

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// twinNamespaces are those of two clusters of one name.
var twinNamespaces = [2]string{"story-isolated-a", "story-isolated-b"}

// TestIsolation runs two clusters of one name in two namespaces. The certificates of the one open no port of the other, and if somebody puts
// a member's certificates into the Secret of its twin, the twin starts with none of them and the operator puts its own back.
func TestIsolation(t *testing.T) {
	t.Parallel()
	var twins [2]*story
	for i, namespace := range twinNamespaces {
		twins[i] = twin(t, namespace)
	}
	a, b := twins[0], twins[1]
	must(t, a.opens(a))
	must(t, b.opens(b))
	apart(a, b)

	a.client()
	start := time.Now()
	own := a.stored("twin-0-tls")
	changed := own.DeepCopy()
	changed.Data = maps.Clone(b.stored("twin-0-tls").Data)
	must(t, a.Client.Update(t.Context(), changed))
	gone := a.pod("twin-0").UID
	must(t, a.KillPod(t.Context(), "twin-0"))
	must(t, harness.Await(t.Context(), "the operator has put the certificates back", rotationLimit, a.holds(own)))
	must(t, a.Recovered(t.Context(), gone, rotationLimit))
	a.settled()
	a.report("the twin's certificates in a member's Secret, and the pod killed")
	t.Logf("it took %.1f s", time.Since(start).Seconds())
	must(t, a.writer.Stop(t.Context()))
	must(t, a.opens(a))
	apart(a, b)
	b.healthy("the other twin")
}

// apart has each of the two try both ports of the other.
func apart(a, b *story) {
	a.t.Helper()
	for _, pair := range [][2]*story{{a, b}, {b, a}} {
		both, ok := pair[0].opens(pair[1]).(interface{ Unwrap() []error })
		if !ok || len(both.Unwrap()) != 2 {
			a.t.Errorf("a member of %s lets in who has certificates of %s: only %v", pair[1].Namespace, pair[0].Namespace, both)
		}
	}
}

func twin(t *testing.T, namespace string) *story {
	t.Helper()
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent(namespace)))
	cluster, err := env.NewCluster(t.Context(), namespace, "twin", overTLS(3))
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			describe(t, cluster)
		}
		deleteNamespace(t, namespace)
	})
	s := &story{Cluster: cluster, t: t}
	s.healthy("created")
	return s
}

func (s *story) stored(name string) *corev1.Secret {
	s.t.Helper()
	secret := &corev1.Secret{}
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, secret))
	return secret
}

// holds is true once the Secret holds the certificate that it held, or one that the operator has issued since, by the same authority.
func (s *story) holds(own *corev1.Secret) func(context.Context) (string, bool) {
	foreign := s.stored(own.Name).Data["peer.crt"]
	return func(ctx context.Context) (string, bool) {
		secret := &corev1.Secret{}
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(own), secret); err != nil {
			return err.Error(), false
		}
		return "it holds its twin's", string(secret.Data["peer.crt"]) != string(foreign)
	}
}

// opens has somebody with the certificates of this cluster try both ports of a member of that one. At the port for peers a certificate is all
// that can be tried from here: etcd accepts a connection of a peer from the addresses of its certificate's names only.
func (s *story) opens(other *story) error {
	s.t.Helper()
	pod, own := other.pod("twin-0"), s.stored("twin-0-tls")
	peer, err := tls.X509KeyPair(own.Data["peer.crt"], own.Data["peer.key"])
	must(s.t, err)
	applications := s.stored("twin-client")
	application, err := tls.X509KeyPair(applications.Data["tls.crt"], applications.Data["tls.key"])
	must(s.t, err)
	return errors.Join(
		refusesPeer(s.t.Context(), net.JoinHostPort(pod.Status.PodIP, "2380"), peer),
		reads(s.t.Context(), net.JoinHostPort(pod.Status.PodIP, "2379"), &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{application}}),
	)
}

// refusesPeer returns the TLS alert by which a member refuses the certificate, nil if it does not.
func refusesPeer(ctx context.Context, address string, certificate tls.Certificate) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /members HTTP/1.1\r\nHost: twin\r\n\r\n"); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	if alert := (&net.OpError{}); errors.As(err, &alert) && alert.Op == "remote error" {
		return err
	}
	return nil
}
