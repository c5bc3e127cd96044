package packaging

import (
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// mostBytes is how large a CRD may be as JSON. Plain kubectl apply keeps such a copy of what it applies in an annotation, and
// annotations have 262144 bytes.
const mostBytes = 200_000

// TestCRDs wants every CRD to be applied by any client, and server-side apply to know of each list how it is merged.
func TestCRDs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) != 5 {
		t.Fatalf("found %q: %v", files, err)
	}
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		text := read(t, name)
		kept, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) > mostBytes {
			t.Errorf("%s has %d bytes as JSON, more than %d: kubectl apply would not take it for long", name, len(kept), mostBytes)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatal(err)
		}
		lists(t, crd.Spec.Names.Kind, crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
}

// lists finds those that do not say how they are merged.
func lists(t *testing.T, path string, s *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if s.Type == "array" && s.XListType == nil {
		t.Errorf("%s is a list, and says not how it is merged: give it a +listType", path)
	}
	if s.Items != nil && s.Items.Schema != nil {
		lists(t, path+"[]", s.Items.Schema)
	}
	for name, p := range s.Properties {
		lists(t, path+"."+name, &p)
	}
}
