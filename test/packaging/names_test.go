package packaging

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOtherNames wants the manifests to share no name with those of other operators of etcd, nor with any that the usual ones have, once namespace
// and namePrefix are what docs/migrate.md gives as an example, and the operator to be exempted under its new name.
func TestOtherNames(t *testing.T) {
	const namespace, prefix, document = "etcdpilot-system", "etcdpilot-", "docs/migrate.md"
	if advice := "`" + namespace + "` and `" + prefix + "`"; !strings.Contains(string(read(t, document)), advice) {
		t.Errorf("%s does not advise %s", document, advice)
	}
	usual := map[string]bool{}
	for _, object := range build(t, "config/default") {
		usual[nameOf(object)] = true
	}
	others := changed(func(kustomization map[string]any) {
		kustomization["namespace"], kustomization["namePrefix"] = namespace, prefix
	})(t)
	exempting := 0
	for _, object := range others {
		name := nameOf(object)
		if kind := object.GetKind(); kind != "CustomResourceDefinition" && (usual[name] || strings.Contains(name, "etcd-operator")) {
			t.Errorf("%s is called so with other names, too", name)
		}
		text, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), operator.Namespace) || strings.Contains(string(text), operator.Name) {
			t.Errorf("%s names the usual operator: %s", name, text)
		}
		if object.GetKind() == "ValidatingAdmissionPolicy" && strings.Contains(string(text), "'"+namespace+"' + ':' + '"+prefix+"controller-manager'") {
			exempting++
		}
	}
	if exempting != 6 {
		t.Errorf("%d policies exempt the operator, want 6", exempting)
	}
}

// nameOf is the kind and the name of an object. Kustomize has a namespace of kinds that belong to none.
func nameOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}
