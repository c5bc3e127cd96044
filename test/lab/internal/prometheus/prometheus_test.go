package prometheus

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// tools stands for programs that need not be built to say what goes into an image.
func tools() map[string]build.Tool {
	return map[string]build.Tool{
		build.Prometheus:         {Version: "v0.316.0", Dir: "/p"},
		build.PrometheusOperator: {Version: "v0.92.0", Dir: "/o"},
	}
}

func TestImages(t *testing.T) {
	specs := map[string]image.Spec{}
	for _, found := range Images(tools()) {
		for _, reference := range found.References {
			specs[reference] = found.Spec
		}
	}
	for reference, want := range map[string]struct{ path, source string }{
		"quay.io/prometheus/prometheus:v3.16.0":                          {"/bin/prometheus", "/p/prometheus"},
		"quay.io/prometheus-operator/prometheus-operator:v0.92.0":        {"/bin/operator", "/o/operator"},
		"quay.io/prometheus-operator/prometheus-config-reloader:v0.92.0": {"/bin/prometheus-config-reloader", "/o/prometheus-config-reloader"},
	} {
		spec, found := specs[reference]
		if !found {
			t.Errorf("there is no %s, but %v", reference, slices.Sorted(maps.Keys(specs)))
			continue
		}
		if !slices.Equal(spec.Entrypoint, []string{want.path}) || spec.Files[want.path].Source != want.source || spec.User != "65534" {
			t.Errorf("%s is %+v, want %s from %s as nobody", reference, spec, want.path, want.source)
		}
	}
	out := rendered(t)
	for _, match := range regexp.MustCompile(`(?:image:|config-reloader=) ?(\S+)`).FindAllStringSubmatch(out, -1) {
		if _, found := specs[match[1]]; !found {
			t.Errorf("pods are to run %s, which is no image", match[1])
		}
		delete(specs, match[1])
	}
	if len(specs) > 0 {
		t.Errorf("no pod runs %v", slices.Sorted(maps.Keys(specs)))
	}
}

// TestToolsHavePrograms looks for the images' programs, and the path of the one that the operator starts by it, in what is pinned.
func TestToolsHavePrograms(t *testing.T) {
	builder, err := build.New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for name, programs := range map[string][]string{
		build.Prometheus: {server}, build.PrometheusOperator: {operator, reloader},
	} {
		tool, err := builder.Pinned(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, program := range programs {
			if _, found := tool.Binaries[program]; !found {
				t.Errorf("%s has no %s, but %v", name, program, tool.Binaries)
			}
		}
	}
	source, err := os.ReadFile(filepath.Join(module(t), "pkg", "operator", "config_reloader.go"))
	if err != nil {
		t.Fatal(err)
	}
	if command := `[]string{"/bin/` + reloader + `"}`; !strings.Contains(string(source), command) {
		t.Errorf("the operator does not start %s", command)
	}
}

// TestPrometheusIsOfItsKind compares the object of kind Prometheus with the CRD that is pinned.
func TestPrometheusIsOfItsKind(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(CRDs(module(t)), "monitoring.coreos.com_prometheuses.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema schema }
			}
		}
	}
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Name != "v1" {
		t.Fatalf("%+v are not its versions", crd.Spec.Versions)
	}
	object := objectOf(t, "Prometheus")
	delete(object, "metadata")
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.check(t, "Prometheus", object)
	for _, kind := range []string{"serviceMonitor", "podMonitor", "rule"} {
		for _, field := range []string{kind + "Selector", kind + "NamespaceSelector"} {
			if selector, is := object["spec"].(map[string]any)[field].(map[string]any); !is || len(selector) > 0 {
				t.Errorf("%s is %v and does not select all", field, selector)
			}
		}
	}
}

// schema is what this test checks of a CRD's.
type schema struct {
	Properties map[string]schema
	Enum       []any
}

// check wants all fields of a value to be known.
func (s schema) check(t *testing.T, path string, value any) {
	t.Helper()
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		t.Errorf("%s is %v, and may be %v", path, value, s.Enum)
	}
	fields, is := value.(map[string]any)
	if !is {
		return
	}
	for name, field := range fields {
		known, found := s.Properties[name]
		if !found {
			if len(s.Properties) > 0 {
				t.Errorf("%s has no field %s", path, name)
			}
			continue
		}
		known.check(t, path+"."+name, field)
	}
}

// TestServiceFindsPrometheus wants the Service to select what the operator labels, and the proxy to name its port.
func TestServiceFindsPrometheus(t *testing.T) {
	service := objectOf(t, "Service")
	spec := service["spec"].(map[string]any)
	if selector := spec["selector"].(map[string]any); selector["prometheus"] != Name || selector["app.kubernetes.io/name"] != "prometheus" {
		t.Errorf("it selects %v", selector)
	}
	port := spec["ports"].([]any)[0].(map[string]any)["name"]
	name := service["metadata"].(map[string]any)["name"]
	if want := "/services/" + name.(string) + ":" + port.(string) + "/proxy"; !strings.HasSuffix(Proxy, want) {
		t.Errorf("the proxy's path is %s, and the Service's %s", Proxy, want)
	}
}

func module(t *testing.T) string {
	t.Helper()
	builder, err := build.New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := builder.ModuleDir(t.Context(), build.PrometheusOperator, Module)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func rendered(t *testing.T) string {
	t.Helper()
	out, err := Manifests(tools())
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// objectOf returns the only object of a kind.
func objectOf(t *testing.T, kind string) map[string]any {
	t.Helper()
	var found []map[string]any
	for text := range strings.SplitSeq(rendered(t), "\n---\n") {
		object := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if object["kind"] == kind {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d objects of kind %s", len(found), kind)
	}
	return found[0]
}
