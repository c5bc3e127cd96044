package image

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder writes files below a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for file, content := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBundle(t *testing.T) {
	dir := folder(t, map[string]string{
		"metadata/annotations.yaml": "annotations:\n  # The core.\n  operators.operatorframework.io.bundle.package.v1: p\n" +
			"  operators.operatorframework.io.bundle.manifests.v1: manifests/\n",
		"manifests/csv.yaml":          "kind: ClusterServiceVersion",
		"tests/scorecard/config.yaml": "kind: Configuration",
	})
	spec, err := Bundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{
		"operators.operatorframework.io.bundle.package.v1":   "p",
		"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
	}; !maps.Equal(spec.Labels, want) {
		t.Errorf("the labels are %v, want %v", spec.Labels, want)
	}
	if want := []string{
		"/manifests/csv.yaml", "/metadata/annotations.yaml", "/tests/scorecard/config.yaml",
	}; !slices.Equal(slices.Sorted(maps.Keys(spec.Files)), want) {
		t.Errorf("the files are %v, want %v", spec.Files, want)
	}
	for name, files := range map[string]map[string]string{
		"nothing":                {},
		"annotations of no kind": {"metadata/annotations.yaml": "labels: {}"},
		"no YAML":                {"metadata/annotations.yaml": "annotations: ["},
	} {
		if _, err := Bundle(folder(t, files)); err == nil || !strings.Contains(err.Error(), "annotations.yaml") {
			t.Errorf("a bundle with %s: %v, want an error that names the file", name, err)
		}
	}
}

// TestCatalogLeavesTheServer wants one server to do for several catalogs.
func TestCatalogLeavesTheServer(t *testing.T) {
	server := CatalogServer("opm", "probe")
	dir := folder(t, map[string]string{"p/catalog.yaml": "schema: olm.package"})
	spec, err := Catalog(dir, server)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/bin/grpc_health_probe", "/bin/opm", "/configs/p/catalog.yaml"}; !slices.Equal(slices.Sorted(maps.Keys(spec.Files)), want) {
		t.Errorf("the files are %v, want %v", spec.Files, want)
	}
	if len(server.Files) != 2 || server.Cmd != nil {
		t.Errorf("the server has become %+v", server)
	}
}
