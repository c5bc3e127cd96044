package testenv

import (
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applied has the API server take an object, whole: it refuses a field that it does not know, and the test fails for one that it does not keep, as
// it drops what belongs to a feature that it has switched off.
func Applied(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	unstructured.RemoveNestedField(object.Object, "status")
	kept := object.DeepCopy()
	err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(kept), client.FieldOwner("test"), client.ForceOwnership)
	if err != nil {
		t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		return
	}
	for _, path := range lost("", object.Object, kept.Object) {
		t.Errorf("%s %s: the API server does not keep %s", object.GetKind(), object.GetName(), path)
	}
}

// Unstructured is an object as it is sent, with its kind, which objects of Go's types do not have.
func Unstructured(t *testing.T, object client.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := kruntime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	if kinds, _, err := Scheme(t).ObjectKinds(object); err == nil && u.GetKind() == "" {
		u.SetGroupVersionKind(kinds[0])
	}
	return u
}

// lost lists what of one value another lacks or has otherwise.
func lost(path string, want, have any) (paths []string) {
	switch want := want.(type) {
	case nil:
		return nil
	case map[string]any:
		kept, _ := have.(map[string]any)
		for key, value := range want {
			paths = append(paths, lost(path+"."+key, value, kept[key])...)
		}
		if len(want) > 0 || have != nil {
			return paths
		}
	case []any:
		kept, _ := have.([]any)
		if len(kept) >= len(want) { // admission adds tolerations behind those that are given
			for i := range want {
				paths = append(paths, lost(fmt.Sprintf("%s[%d]", path, i), want[i], kept[i])...)
			}
			return paths
		}
	}
	if reflect.DeepEqual(want, have) {
		return nil
	}
	return []string{fmt.Sprintf("%s, which is %v and was %v", path, have, want)}
}
