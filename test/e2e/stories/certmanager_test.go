package stories

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// house is the Issuer of the story, and root the Certificate that it signs with.
const (
	house = "house"
	root  = "root"
)

// TestCertManager has cert-manager's own controllers issue the authorities of a cluster, and renew them under a client that must not
// notice. The Issuer is missing at first, and cannot sign when they are to be renewed.
func TestCertManager(t *testing.T) {
	t.Parallel()
	const name = "cert-manager"
	must(t, nodes.CertManager().Start(t.Context(), t.Output()))
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent("story-"+name)))
	must(t, env.Namespace(t.Context(), "story-"+name))
	spec := onVolumes(3)
	spec.TLS = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{IssuerRef: &v1beta2.IssuerRef{Name: house}}}
	s := createIn(t, name, spec)
	s.issue(root, "ClusterIssuer", lab.SelfSignedIssuer, map[string]any{"isCA": true, "commonName": root, "duration": "87600h"})
	s.lacksIssuer(`"` + house + `" not found`)
	if pods, err := s.Pods(t.Context()); err != nil || len(pods) > 0 {
		t.Errorf("%d members before there are authorities (%v)", len(pods), err)
	}
	start := time.Now()
	s.setIssuer(root)
	s.healthy("the Issuer was made")
	s.settled()
	t.Logf("settled %.1f s after the Issuer was made", time.Since(start).Seconds())
	before := s.authorities()
	s.client()
	s.keepsOut()
	s.keepsOutIssued()

	s.setIssuer("missing")
	must(t, env.Run(t.Context(), "wait", "-n", s.Namespace, "--for=condition=Ready=False", "issuer.cert-manager.io/"+house, "--timeout=1m"))
	s.renew()
	s.lacksIssuer("Issuer " + house)
	s.faultless("authorities that cannot be renewed", start)
	start = time.Now()
	s.setIssuer(root)
	s.certified("authorities that cert-manager has renewed")
	s.settled()
	s.faultless("all authorities renewed", start)
	for side, now := range s.authorities() {
		if bytes.Equal(now.Leaf().RawSubjectPublicKeyInfo, before[side].Leaf().RawSubjectPublicKeyInfo) {
			t.Errorf("the authority of %s has the key of the one before", side)
		}
	}
	s.keepsOutIssued()
	must(t, s.writer.Stop(t.Context()))
}

// certManagers is an object of cert-manager's.
func certManagers(kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion("cert-manager.io/v1")
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// issue has cert-manager issue a certificate into a Secret of that name.
func (s *story) issue(name, kind, issuer string, spec map[string]any) {
	s.t.Helper()
	made := certManagers("Certificate", s.Namespace, name)
	spec["secretName"], spec["issuerRef"] = name, map[string]any{"kind": kind, "name": issuer}
	made.Object["spec"] = spec
	must(s.t, env.Create(s.t.Context(), made))
	must(s.t, env.Run(s.t.Context(), "wait", "-n", s.Namespace, "--for=condition=Ready", "certificate.cert-manager.io/"+name, "--timeout=2m"))
}

// setIssuer has the Issuer sign with a Secret.
func (s *story) setIssuer(secret string) {
	s.t.Helper()
	issuer := certManagers("Issuer", s.Namespace, house)
	issuer.Object["spec"] = map[string]any{"ca": map[string]any{"secretName": secret}}
	must(s.t, env.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(issuer), client.FieldOwner("story"), client.ForceOwnership))
}

// lacksIssuer waits until the cluster says what is wrong with the Issuer. The operator looks every five minutes.
func (s *story) lacksIssuer(message string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the condition names the Issuer", rotationLimit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionCertificatesValid)
		return fmt.Sprintf("%+v", c), c != nil && c.Reason == v1beta2.ReasonIssuerUnavailable && strings.Contains(c.Message, message)
	}))
}

// renew does what "cmctl renew" does.
func (s *story) renew() {
	s.t.Helper()
	for _, side := range []string{"peer", "server"} {
		certificate := certManagers("Certificate", s.Namespace, s.Name+"-ca-"+side)
		must(s.t, s.Client.Get(s.t.Context(), client.ObjectKeyFromObject(certificate), certificate))
		conditions, _, err := unstructured.NestedSlice(certificate.Object, "status", "conditions")
		must(s.t, err)
		conditions = append(conditions, map[string]any{
			"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "of the story",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": certificate.GetGeneration(),
		})
		must(s.t, unstructured.SetNestedSlice(certificate.Object, conditions, "status", "conditions"))
		must(s.t, s.Status().Update(s.t.Context(), certificate))
	}
}

// authorities are those that the members trust, which have to be cert-manager's, of the Issuer, and nothing else.
func (s *story) authorities() map[string]*pki.Pair {
	s.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.ownSecret(root).Data["tls.crt"])
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	trust := s.ownSecret(object.Status.TLS.TrustSecret)
	found := map[string]*pki.Pair{}
	for _, side := range []string{"peer", "server"} {
		issued := s.ownSecret(s.Name + "-ca-" + side)
		pair, err := pki.ParsePair(pki.Text{Name: side, PEM: issued.Data["tls.crt"]}, pki.Text{Name: side, PEM: issued.Data["tls.key"]})
		must(s.t, err)
		_, err = pair.Leaf().Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		must(s.t, err)
		if only := pki.Encode(pair.Chain[:1]); !bytes.Equal(trust.Data[side+"-ca.crt"], only) {
			s.t.Errorf("members trust for %s\n%s\nand not only\n%s", side, trust.Data[side+"-ca.crt"], only)
		}
		found[side] = pair
	}
	return found
}

// keepsOutIssued has who has a certificate of the same Issuer, as root, try every port for peers and clients. The cluster's own client gets in
// the same way.
func (s *story) keepsOutIssued() {
	s.t.Helper()
	name := "other-" + time.Now().Format("150405")
	s.issue(name, "Issuer", house, map[string]any{"commonName": "root", "usages": []any{"client auth"}})
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	for _, pod := range pods {
		if err := s.readsWith(s.Name+"-client", pod.Status.PodIP, "2379"); err != nil {
			s.t.Errorf("the cluster's own client is kept out of %s: %v", pod.Name, err)
		}
		for _, port := range []string{"2379", "2380"} {
			if err := s.readsWith(name, pod.Status.PodIP, port); err == nil {
				s.t.Errorf("with a certificate of the same issuer, port %s of %s lets anybody in", port, pod.Name)
			}
		}
	}
}

// readsWith tries to read a key there with the certificate of a Secret.
func (s *story) readsWith(secret, ip, port string) error {
	s.t.Helper()
	data := s.ownSecret(secret).Data
	pair, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"])
	must(s.t, err)
	return reads(s.t.Context(), net.JoinHostPort(ip, port), &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}})
}
