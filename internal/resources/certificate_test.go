package resources

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestCertificateDrift finds what others have put into a Certificate.
func TestCertificateDrift(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "demo"}}
	c.Spec.TLS = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{IssuerRef: &v1beta2.IssuerRef{Name: "house"}}}
	want := Certificate(c, true)
	for name, test := range map[string]struct {
		change func(u *unstructured.Unstructured)
		drift  string
	}{
		"nothing":             {func(*unstructured.Unstructured) {}, ""},
		"a label of theirs":   {func(u *unstructured.Unstructured) { u.SetLabels(labelled(u.GetLabels(), "theirs", "too")) }, ""},
		"no label":            {func(u *unstructured.Unstructured) { u.SetLabels(nil) }, "metadata.labels"},
		"kept requests":       {set(int64(3), "revisionHistoryLimit"), ""},
		"renewed early":       {set("43799h", "renewBefore"), "spec.renewBefore"},
		"renewed at 99 %":     {set(int64(99), "renewBeforePercentage"), "spec.renewBeforePercentage"},
		"copied elsewhere":    {set("all", "secretTemplate", "annotations", "replicator.example.com/to"), "spec.secretTemplate.annotations"},
		"found by others":     {set("x", "secretTemplate", "labels", "theirs"), "spec.secretTemplate.labels.theirs"},
		"in another format":   {set([]any{map[string]any{"type": "DER"}}, "additionalOutputFormats"), "spec.additionalOutputFormats"},
		"in a keystore":       {set(true, "keystores", "pkcs12", "create"), "spec.keystores"},
		"no authority":        {set(false, "isCA"), "spec.isCA"},
		"the key stays":       {set("Never", "privateKey", "rotationPolicy"), "spec.privateKey.rotationPolicy"},
		"a field not known":   {set("x", "renewal", "policy"), "spec.renewal"},
		"from another issuer": {set("nowhere", "issuerRef", "name"), "spec.issuerRef.name"},
	} {
		t.Run(name, func(t *testing.T) {
			have := want.DeepCopy()
			test.change(have)
			if got := strings.Join(CertificateDrift(have, want), ","); got != test.drift {
				t.Errorf("the drift is %q, not %q", got, test.drift)
			}
		})
	}
}

func set(value any, path ...string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(u.Object, value, append([]string{"spec"}, path...)...); err != nil {
			panic(err)
		}
	}
}

func labelled(labels map[string]string, key, value string) map[string]string {
	all := maps.Clone(labels)
	all[key] = value
	return all
}
