package resources

import (
	"cmp"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// CertificateKind is cert-manager's Certificate.
var CertificateKind = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}

// CertificateRequestKind is what cert-manager makes for each issuance of a Certificate.
var CertificateRequestKind = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "CertificateRequest"}

// Certificate asks cert-manager for the authority of one side, by spec.tls.managed.issuerRef. Its key is another one at each renewal, so
// that a rotation makes a stolen one worthless. cert-manager renews it when a third of its life is left, whatever life the issuer gives.
func Certificate(c *v1beta2.EtcdCluster, peer bool) *unstructured.Unstructured {
	m := c.Spec.ManagedTLS()
	meta := objectMeta(c, certificates.IssuedName(c.Name, peer))
	duration := certificates.DefaultCADuration
	if m.CADuration != nil {
		duration = m.CADuration.Duration
	}
	labels := map[string]any{}
	for key, value := range meta.Labels {
		labels[key] = value
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"secretName":     meta.Name,
		"secretTemplate": map[string]any{"labels": labels},
		"commonName":     certificates.AuthoritySubject(c.Namespace, c.Name, peer),
		"isCA":           true,
		"duration":       duration.String(),
		"usages":         []any{"cert sign"},
		"privateKey": map[string]any{
			"algorithm": "ECDSA", "size": int64(256), "encoding": "PKCS8", "rotationPolicy": "Always",
		},
		"issuerRef": map[string]any{
			"name": m.IssuerRef.Name, "kind": cmp.Or(m.IssuerRef.Kind, "Issuer"), "group": cmp.Or(m.IssuerRef.Group, CertificateKind.Group),
		},
	}}}
	u.SetGroupVersionKind(CertificateKind)
	u.SetName(meta.Name)
	u.SetNamespace(meta.Namespace)
	u.SetLabels(meta.Labels)
	u.SetOwnerReferences(meta.OwnerReferences)
	return u
}

// CertificateDue reports whether a Certificate is to be changed: what is asked for is not in it, or a label by which its requests are
// found. More may be in it.
func CertificateDue(have, want *unstructured.Unstructured) bool {
	labels := have.GetLabels()
	for key, value := range want.GetLabels() {
		if labels[key] != value {
			return true
		}
	}
	return !holds(have.Object["spec"], want.Object["spec"])
}

// holds reports whether all that is wanted is there.
func holds(have, want any) bool {
	fields, is := want.(map[string]any)
	if !is {
		return reflect.DeepEqual(have, want)
	}
	there, _ := have.(map[string]any)
	for key, value := range fields {
		if !holds(there[key], value) {
			return false
		}
	}
	return true
}
