package resources

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

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

// harmless is the only field of a Certificate's spec that others may set: how many requests cert-manager keeps.
const harmless = "revisionHistoryLimit"

// CertificateDrift names the fields of a Certificate that are not as they are asked for, such as spec.renewBefore, in order; none if all
// are. Its spec is the operator's alone: a renewBefore of somebody else's has cert-manager renew without end, and a template or another
// format takes the authority's key elsewhere. Labels by which its requests are found have to be there; others may be, too.
func CertificateDrift(have, want *unstructured.Unstructured) []string {
	var drift []string
	labels := have.GetLabels()
	for key, value := range want.GetLabels() {
		if labels[key] != value {
			drift = append(drift, "metadata.labels")
			break
		}
	}
	return append(drift, slices.Sorted(maps.Keys(flat("spec", SpecPatch(have, want))))...)
}

// SpecPatch is what a merge patch has to say of a Certificate's spec to have it as it is asked for.
func SpecPatch(have, want *unstructured.Unstructured) map[string]any {
	there, _ := have.Object["spec"].(map[string]any)
	asked, _ := want.Object["spec"].(map[string]any)
	return mergePatch(there, asked)
}

// mergePatch makes one object another one (RFC 7386).
func mergePatch(have, want map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range want {
		fields, is := value.(map[string]any)
		there, was := have[key].(map[string]any)
		switch {
		case is && was:
			if inner := mergePatch(there, fields); len(inner) > 0 {
				patch[key] = inner
			}
		case !reflect.DeepEqual(have[key], value):
			patch[key] = value
		}
	}
	for key := range have {
		if _, wanted := want[key]; !wanted && key != harmless {
			patch[key] = nil
		}
	}
	return patch
}

// flat has the paths of all values.
func flat(path string, fields map[string]any) map[string]any {
	all := map[string]any{}
	for key, value := range fields {
		name := path + "." + key
		if inner, is := value.(map[string]any); is {
			maps.Copy(all, flat(name, inner))
			continue
		}
		all[name] = value
	}
	return all
}
