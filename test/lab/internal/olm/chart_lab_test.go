//go:build lab

package olm

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

// TestChart renders the chart that is pinned.
func TestChart(t *testing.T) {
	builder, err := build.New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	helm, err := builder.Ensure(t.Context(), build.Helm)
	if err != nil {
		t.Fatal(err)
	}
	tool, err := builder.Pinned(build.OLM)
	if err != nil {
		t.Fatal(err)
	}
	module, err := builder.ModuleDir(t.Context(), build.OLM, Module)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ChartOf(module).Render(t.Context(), helm.Path(build.Helm), tool.Version)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]string{}
	for text := range strings.SplitSeq(string(out), "\n---") {
		var object struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		objects[object.Kind+"/"+object.Metadata.Namespace+"/"+object.Metadata.Name] = text
	}
	image := "quay.io/operator-framework/olm:" + tool.Version
	for name, parts := range map[string][]string{
		"Deployment/olm/olm-operator":              {image, "imagePullPolicy: IfNotPresent"},
		"Deployment/olm/catalog-operator":          {image, "--opmImage=" + opmImage + ":latest", "--util-image"},
		"ClusterServiceVersion/olm/packageserver":  {image, "replicas: 1"},
		"OperatorGroup/operators/global-operators": nil,
		"Namespace//olm":                           nil,
		"Namespace//operators":                     nil,
	} {
		text, found := objects[name]
		if !found {
			t.Errorf("there is no %s but %v", name, slices.Sorted(maps.Keys(objects)))
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", name, part, text)
			}
		}
	}
	if strings.Contains(string(out), "kind: CatalogSource") {
		t.Error("there is a catalog of upstream's, whose image the lab has not")
	}
	if found, err := filepath.Glob(filepath.Join(ChartOf(module).CRDs(), "*.yaml")); err != nil || len(found) == 0 {
		t.Errorf("there are no CRDs: %v, %v", found, err)
	}
	if _, err := Chart(t.TempDir()).Render(t.Context(), helm.Path(build.Helm), tool.Version); err == nil {
		t.Error("a folder without a chart was rendered")
	}
}
