package olm

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// busybox stands for the image of a shell.
var busybox = image.Spec{
	Files: map[string]image.File{
		"/bin/busybox": {Source: "/usr/bin/busybox"}, "/bin/sh": {Link: "busybox"}, "/bin/cp": {Link: "busybox"},
	},
	Cmd: []string{"sh"},
}

// tools stands for programs that need not be built to say what goes into an image.
func tools() map[string]build.Tool {
	return map[string]build.Tool{
		build.OLM: {
			Version: "v0.38.0", Dir: "/olm", Binaries: map[string]string{"olm": "", "catalog": "", "cpb": ""},
		},
		build.OPM:             {Version: "v1.61.0", Dir: "/opm"},
		build.GRPCHealthProbe: {Version: "v0.4.41", Dir: "/probe"},
		build.OperatorSDK:     {Version: "v1.42.2", Dir: "/sdk"},
		build.Helm:            {Version: "v3.21.4", Dir: "/helm"},
	}
}

func TestImages(t *testing.T) {
	before := len(busybox.Files)
	specs := map[string]image.Spec{}
	for _, found := range Images(tools(), busybox) {
		for _, reference := range found.References {
			specs[reference] = found.Spec
		}
	}
	for reference, want := range map[string]struct {
		user, entrypoint string
		files            map[string]image.File
	}{
		"quay.io/operator-framework/olm:v0.38.0": {"1001", "/bin/olm", map[string]image.File{
			"/bin/olm": {Source: "/olm/olm"}, "/bin/catalog": {Source: "/olm/catalog"}, "/bin/cpb": {Source: "/olm/cpb"},
			"/bin/cp": {Link: "busybox"}, "/bin/busybox": {Source: "/usr/bin/busybox"},
		}},
		"quay.io/operator-framework/opm:latest": {"1001", "/bin/opm", map[string]image.File{
			"/bin/opm": {Source: "/opm/opm"}, "/bin/grpc_health_probe": {Source: "/probe/grpc-health-probe"},
			"/bin/sh": {Link: "busybox"},
		}},
		"quay.io/operator-framework/scorecard-test:v1.42.2": {
			"1001", "/usr/local/bin/scorecard-test",
			map[string]image.File{"/usr/local/bin/scorecard-test": {Source: "/sdk/scorecard-test"}},
		},
		UntarImage("v1.42.2"):                     {"1001", "", map[string]image.File{"/bin/sh": {Link: "busybox"}}},
		StorageImage("v1.42.2"):                   {"1001", "", map[string]image.File{"/bin/sh": {Link: "busybox"}}},
		"registry.access.redhat.com/ubi9/ubi:9.7": {"", "", map[string]image.File{"/bin/sh": {Link: "busybox"}}},
	} {
		got, found := specs[reference]
		if !found {
			t.Errorf("there is no %s, but %v", reference, slices.Sorted(maps.Keys(specs)))
			continue
		}
		if got.User != want.user || strings.Join(got.Entrypoint, " ") != want.entrypoint {
			t.Errorf("%s runs %q as %q", reference, got.Entrypoint, got.User)
		}
		for file, content := range want.files {
			if got.Files[file] != content {
				t.Errorf("%s has at %s %+v, want %+v", reference, file, got.Files[file], content)
			}
		}
	}
	if after := len(busybox.Files); after != before {
		t.Errorf("busybox's image has %d files, and had %d", after, before)
	}
}

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

func TestCatalog(t *testing.T) {
	dir := folder(t, map[string]string{"p/catalog.yaml": "schema: olm.package"})
	spec, err := Catalog(dir, tools(), busybox)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Labels["operators.operatorframework.io.index.configs.v1"] != "/configs" ||
		spec.Files["/configs/p/catalog.yaml"].Source != filepath.Join(dir, "p", "catalog.yaml") {
		t.Errorf("the catalog is not where the label %v says: %v", spec.Labels, spec.Files)
	}
	if command := strings.Join(append(spec.Entrypoint, spec.Cmd...), " "); command != "/bin/opm serve /configs" {
		t.Errorf("it runs %s", command)
	}
	if _, err := Catalog(t.TempDir(), tools(), busybox); err == nil {
		t.Error("a catalog without files was taken")
	}
}

// TestNamesAreOperatorSDKs looks into the source of the operator-sdk that is pinned.
func TestNamesAreOperatorSDKs(t *testing.T) {
	builder, err := build.New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	module, err := builder.ModuleDir(t.Context(), build.OperatorSDK, "github.com/operator-framework/operator-sdk")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(module, "internal", "olm", "fbcutil", "util.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{baseImage, opmImage + ":"} {
		if !strings.Contains(string(source), strconv.Quote(name)) {
			t.Errorf("operator-sdk does not start pods of %s", name)
		}
	}
}
