package etcdcluster_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// certManagerCRD is one of cert-manager's that takes everything: what its own schema takes is a matter of TestCertManager.
const certManagerCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.cert-manager.io}
spec:
  group: cert-manager.io
  names: {kind: %[1]s, plural: %[2]s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// issuedTLS starts a cluster whose authorities cert-manager issues. The test is cert-manager, and somebody who may write Secrets.
func (e *env) issuedTLS(t *testing.T) {
	const name = "issued"
	e.cluster(t, name, v1beta2.EtcdClusterSpec{Size: 1, TLS: &v1beta2.TLSPolicy{
		Managed: &v1beta2.ManagedTLS{IssuerRef: &v1beta2.IssuerRef{Name: "house", Kind: "ClusterIssuer"}},
	}})
	e.lacksAuthority(t, name, "install cert-manager")
	for kind, plural := range map[string]string{"Certificate": "certificates", "CertificateRequest": "certificaterequests"} {
		crd := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal(fmt.Appendf(nil, certManagerCRD, kind, plural), &crd.Object))
		must(t, e.Create(t.Context(), crd))
	}
	peer, server := &issuance{e, e.asked(t, "issued-ca-peer"), nil}, &issuance{e, e.asked(t, "issued-ca-server"), nil}

	peer.makes(t)
	peer.stores(t) // by who may write Secrets: no request has it
	server.makes(t)
	server.signs(t, 1)
	server.stores(t)
	server.counts(t, 1)
	e.lacksAuthority(t, name, "the issuer has not signed the authority in Secret issued-ca-peer")
	if pods := e.podsOf(t, name, 0); len(pods) > 0 {
		t.Errorf("pods %v exist before there are authorities", pods)
	}
	peer.makes(t)
	peer.signs(t, 1)
	peer.stores(t) // cert-manager counts later
	pods := e.podsOf(t, name, 1)
	trusted := func() []byte { return e.secret(t, e.read(t, name).Status.TLS.TrustSecret).Data["peer-ca.crt"] }
	if trust := e.secret(t, resources.TrustOf(&pods[0])); !bytes.Equal(trust.Data["peer-ca.crt"], peer.authority()) ||
		!bytes.Equal(trust.Data["server-ca.crt"], server.authority()) {
		t.Error("the member does not trust what was issued")
	}
	peer.counts(t, 1)

	first := *peer
	peer.makes(t)
	peer.stores(t)
	e.annotate(t, name, "leaves:1")
	e.lacksAuthority(t, name, "the issuer has not signed the authority in Secret issued-ca-peer")
	peer.requests(t, "of-nobody", 2, false)
	peer.requests(t, "of-another-time", 4, true)
	e.annotate(t, name, "leaves:2")
	await(t, "a decision after that", func() error {
		if rotated := e.read(t, name).Status.TLS.Rotated; rotated != "leaves:2" {
			return errors.New(rotated)
		}
		return nil
	})
	if !bytes.Equal(trusted(), first.authority()) || !bytes.Equal(e.secret(t, "issued-ca").Data["peer.crt"], first.authority()) {
		t.Error("an authority is used that nobody has signed")
	}
	peer.signs(t, 2)
	await(t, "both authorities are trusted after a renewal", func() error {
		if now := trusted(); !bytes.Contains(now, peer.authority()) || !bytes.Contains(now, first.authority()) {
			return errors.New(string(now))
		}
		return nil
	})
	e.editsCertificate(t, name)
}

// editsCertificate changes what is asked for, and has a label put back by which requests are found, and taken out what somebody else asks
// for. Whoever keeps on is named.
func (e *env) editsCertificate(t *testing.T, name string) {
	certificate := e.asked(t, name+"-ca-peer")
	before := certificate.DeepCopy()
	certificate.SetLabels(map[string]string{"theirs": "too"})
	must(t, unstructured.SetNestedField(certificate.Object, "43799h", "spec", "renewBefore"))
	must(t, unstructured.SetNestedField(certificate.Object, "all", "spec", "secretTemplate", "annotations", "replicate-to"))
	must(t, e.Patch(t.Context(), certificate, client.MergeFrom(before)))
	object := e.read(t, name)
	object.Spec.TLS.Managed.IssuerRef.Name = "other"
	must(t, e.Update(t.Context(), object))
	await(t, "the Certificate follows", func() error {
		now := e.asked(t, name+"-ca-peer")
		issuer, _, _ := unstructured.NestedString(now.Object, "spec", "issuerRef", "name")
		if labels := now.GetLabels(); issuer != "other" || labels["etcd_cluster"] != name || labels["theirs"] != "too" {
			return fmt.Errorf("issuer %s, labels %v", issuer, labels)
		}
		_, early, _ := unstructured.NestedFieldNoCopy(now.Object, "spec", "renewBefore")
		if _, copied, _ := unstructured.NestedFieldNoCopy(now.Object, "spec", "secretTemplate", "annotations"); early || copied {
			return fmt.Errorf("spec %v", now.Object["spec"])
		}
		return nil
	})
	certificate = e.asked(t, name+"-ca-peer")
	before = certificate.DeepCopy()
	must(t, unstructured.SetNestedField(certificate.Object, "43799h", "spec", "renewBefore"))
	must(t, e.Patch(t.Context(), certificate, client.MergeFrom(before)))
	e.annotate(t, name, "leaves:3")
	e.lacksAuthority(t, name, "somebody keeps changing spec.renewBefore of Certificate issued-ca-peer")
}

// lacksAuthority waits until the cluster says why there is no authority.
func (e *env) lacksAuthority(t *testing.T, name, message string) {
	t.Helper()
	await(t, name+" says what is wrong with the issuer", func() error {
		c := meta.FindStatusCondition(e.read(t, name).Status.Conditions, v1beta2.ConditionCertificatesValid)
		if c == nil || c.Reason != v1beta2.ReasonIssuerUnavailable || !strings.Contains(c.Message, message) {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
}

// asked waits for a Certificate.
func (e *env) asked(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	certificate := &unstructured.Unstructured{}
	certificate.SetGroupVersionKind(resources.CertificateKind)
	await(t, "Certificate "+name, func() error {
		return e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, certificate)
	})
	for field, want := range map[string]string{"secretName": name, "issuerRef.kind": "ClusterIssuer", "issuerRef.group": "cert-manager.io"} {
		if got, _, _ := unstructured.NestedString(certificate.Object, append([]string{"spec"}, strings.Split(field, ".")...)...); got != want {
			t.Errorf("Certificate %s asks for %s %q, want %q", name, field, got, want)
		}
	}
	if authority, _, _ := unstructured.NestedBool(certificate.Object, "spec", "isCA"); !authority {
		t.Errorf("Certificate %s asks for no authority", name)
	}
	return certificate
}

// issuance is what cert-manager does for a Certificate, one step at a time.
type issuance struct {
	e           *env
	certificate *unstructured.Unstructured
	made        *pki.Pair
}

// makes makes another authority.
func (i *issuance) makes(t *testing.T) {
	t.Helper()
	made, err := pki.NewAuthority(rand.Reader, i.certificate.GetName(), time.Now(), 24*time.Hour)
	must(t, err)
	i.made = made
}

func (i *issuance) authority() []byte { return pki.Encode(i.made.Chain) }

// signs notes it in the CertificateRequest of an issuance.
func (i *issuance) signs(t *testing.T, revision int) {
	t.Helper()
	i.requests(t, fmt.Sprintf("%s-%d", i.certificate.GetName(), revision), revision, true)
}

// requests makes a CertificateRequest that was signed, the Certificate's own or not.
func (i *issuance) requests(t *testing.T, name string, revision int, own bool) {
	t.Helper()
	request := &unstructured.Unstructured{Object: map[string]any{}}
	request.SetGroupVersionKind(resources.CertificateRequestKind)
	request.SetNamespace(namespace)
	request.SetName(name)
	request.SetLabels(i.certificate.GetLabels())
	request.SetAnnotations(map[string]string{"cert-manager.io/certificate-revision": strconv.Itoa(revision)})
	if own {
		must(t, controllerutil.SetControllerReference(i.certificate, request, i.e.Scheme()))
	}
	must(t, i.e.Create(t.Context(), request))
	request.Object["status"] = map[string]any{
		"certificate": base64.StdEncoding.EncodeToString(i.authority()),
		"conditions":  []any{map[string]any{"type": "Ready", "status": "True", "reason": "Issued"}},
	}
	must(t, i.e.Status().Update(t.Context(), request))
}

// stores puts it into the Secret.
func (i *issuance) stores(t *testing.T) {
	t.Helper()
	name := i.certificate.GetName()
	certificate, key, err := i.made.Encode()
	must(t, err)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	_, err = controllerutil.CreateOrUpdate(t.Context(), i.e.Client, secret, func() error {
		secret.Annotations = map[string]string{"cert-manager.io/certificate-name": name}
		secret.Data = map[string][]byte{"tls.crt": certificate, "tls.key": key}
		return nil
	})
	must(t, err)
}

// counts notes it in the Certificate.
func (i *issuance) counts(t *testing.T, revision int64) {
	t.Helper()
	must(t, i.e.Get(t.Context(), client.ObjectKeyFromObject(i.certificate), i.certificate))
	i.certificate.Object["status"] = map[string]any{
		"revision": revision, "conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Ready"}},
	}
	must(t, i.e.Status().Update(t.Context(), i.certificate))
}
