package stories

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
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
	for _, pair := range [][2]*story{{a, b}, {b, a}} {
		if err := pair[0].opens(pair[1]); err == nil {
			t.Errorf("a member of %s lets in who has certificates of %s", pair[1].Namespace, pair[0].Namespace)
		}
	}

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
	if a.opens(b) == nil || b.opens(a) == nil {
		t.Error("one twin lets in who has certificates of the other")
	}
	b.healthy("the other twin")
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

// opens has somebody with the certificates of this cluster try both ports of a member of that one.
func (s *story) opens(other *story) error {
	s.t.Helper()
	pod, own := other.pod("twin-0"), s.stored("twin-0-tls")
	peer, err := tls.X509KeyPair(own.Data["peer.crt"], own.Data["peer.key"])
	must(s.t, err)
	applications := s.stored("twin-client")
	application, err := tls.X509KeyPair(applications.Data["tls.crt"], applications.Data["tls.key"])
	must(s.t, err)
	err = asksPeer(s.t.Context(), net.JoinHostPort(pod.Status.PodIP, "2380"), peer)
	config := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{application}}
	if read := reads(s.t.Context(), net.JoinHostPort(pod.Status.PodIP, "2379"), config); read != nil || err != nil {
		if read == nil || err == nil {
			s.t.Errorf("%s opens one port of %s: peers %v, clients %v", s.Namespace, other.Namespace, err, read)
		}
		return fmt.Errorf("peers: %w; clients: %w", err, read)
	}
	return nil
}

// asksPeer asks a member for the list of members at its port for peers.
func asksPeer(ctx context.Context, address string, certificate tls.Certificate) error {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}}}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/members", nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s, %w", response.Status, err)
	}
	return nil
}
