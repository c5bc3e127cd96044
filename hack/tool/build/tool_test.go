package build

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestBinaryName(t *testing.T) {
	for pkg, want := range map[string]string{
		"k8s.io/kubernetes/cmd/kube-apiserver":                            "kube-apiserver",
		"go.etcd.io/etcd/server/v3":                                       "etcd",
		"go.etcd.io/etcd/etcdctl/v3":                                      "etcdctl",
		"github.com/golangci/golangci-lint/v2/cmd/golangci-lint":          "golangci-lint",
		"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2": "containerd-shim-runc-v2",
		"sigs.k8s.io/kustomize/kustomize/v5":                              "kustomize",
	} {
		if got := binaryName(pkg); got != want {
			t.Errorf("binaryName(%q) = %q, want %q", pkg, got, want)
		}
	}
}

func TestKeyFollowsPinsAndRecipe(t *testing.T) {
	base := key([]byte("pins"), recipe{})
	if base != key([]byte("pins"), recipe{takes: "longer"}) {
		t.Error("the key depends on what does not change the program")
	}
	for name, other := range map[string]string{
		"pins":    key([]byte("other pins"), recipe{}),
		"ldflags": key([]byte("pins"), recipe{ldflags: "-X main.version=v1.0.0"}),
		"tags":    key([]byte("pins"), recipe{tags: "netgo"}),
	} {
		if other == base {
			t.Errorf("the key does not depend on the %s", name)
		}
	}
}

func TestKubernetesKnowsItsVersion(t *testing.T) {
	for _, tool := range []string{Kubernetes, KubernetesOldest} {
		flags := recipeFor(tool, "v1.36.3").ldflags
		for _, want := range []string{"gitVersion=v1.36.3 ", "gitMajor=1 ", "gitMinor=36 "} {
			if !strings.Contains(flags+" ", want) {
				t.Errorf("the linker flags of %s lack %q: %s", tool, want, flags)
			}
		}
	}
}

func TestPrometheusKnowsItsRelease(t *testing.T) {
	for version, want := range map[string]string{
		"v0.316.0": "3.16.0", "v0.304.12": "3.4.12", "v0.55.1": "0.55.1", "v3.17.0": "3.17.0", "v0.316.0-rc.1": "3.16.0-rc.1",
	} {
		if got := PrometheusRelease(version); got != want {
			t.Errorf("version %s of the module is release %s, want %s", version, got, want)
		}
	}
	for tool, want := range map[string]string{Prometheus: "Version=3.16.0", PrometheusOperator: "Version=0.316.0"} {
		if flags := recipeFor(tool, "v0.316.0").ldflags; !strings.HasSuffix(flags, want) {
			t.Errorf("the linker flags of %s lack %s: %s", tool, want, flags)
		}
	}
}

// greeter makes a source tree with one tool of two programs, which need nothing from elsewhere.
func greeter(t *testing.T, version, greeting string) (root string) {
	t.Helper()
	root = t.TempDir()
	for file, content := range map[string]string{
		"go.mod": "module " + rootModule + "\n",
		"hack/tools/greeter/go.mod": "module tools\n\ngo 1.26.0\n\n" +
			"tool (\n\texample.com/greeter/greet\n\texample.com/greeter/server\n)\n\n" +
			"require example.com/greeter " + version + "\n\nreplace example.com/greeter => ./source\n",
		"hack/tools/greeter/source/go.mod":         "module example.com/greeter\n\ngo 1.26.0\n",
		"hack/tools/greeter/source/greet/main.go":  "package main\n\nfunc main() { print(\"" + greeting + "\") }\n",
		"hack/tools/greeter/source/server/main.go": "package main\n\nvar word = \"plain\"\n\nfunc main() { print(word) }\n",
		"hack/tools/greeter/source/server/tag.go":  "//go:build odd\n\npackage main\n\nfunc init() { word = \"odd\" }\n",
	} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// says runs a program.
func says(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), path).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, out)
	}
	return string(out)
}

func TestBuildsOncePerPin(t *testing.T) {
	cache := t.TempDir()
	steps := []struct {
		name, root, greeting string
		builds               bool
	}{
		{name: "first", root: greeter(t, "v1.0.0", "hello"), greeting: "hello", builds: true},
		{name: "same pins", root: greeter(t, "v1.0.0", "unseen"), greeting: "hello"},
		{name: "other pins", root: greeter(t, "v1.1.0", "good day"), greeting: "good day", builds: true},
		{name: "back again", root: greeter(t, "v1.0.0", "unseen"), greeting: "hello"},
	}
	for _, step := range steps {
		var progress bytes.Buffer
		builder := &Builder{Root: step.root, Cache: cache, Out: &progress}
		path, err := builder.Find(t.Context(), "greet")
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if out := says(t, path); out != step.greeting {
			t.Errorf("%s: it says %q, want %q", step.name, out, step.greeting)
		}
		if built := strings.Contains(progress.String(), "building greeter v"); built != step.builds {
			t.Errorf("%s: built %v, want %v (%q)", step.name, built, step.builds, progress.String())
		}
	}
}

func TestBuildsProgramsOfKubernetesApart(t *testing.T) {
	root := greeter(t, "v1.0.0", "hello")
	tools := filepath.Join(root, "hack", "tools")
	if err := os.Rename(filepath.Join(tools, "greeter"), filepath.Join(tools, Kubernetes)); err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	builder := &Builder{Root: root, Cache: t.TempDir(), Out: &progress}
	// GOFLAGS is for the project's own programs, and no pinned one follows it.
	t.Setenv("GOFLAGS", "-tags=odd")
	server, err := builder.Find(t.Context(), "etcd")
	if err != nil {
		t.Fatal(err)
	}
	if out := says(t, server); out != "plain" {
		t.Errorf("it says %q", out)
	}
	greet := filepath.Join(filepath.Dir(server), "greet")
	if _, err := os.Stat(greet); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("greet was built, too: %v", err)
	}
	first, err := os.Stat(server)
	if err != nil {
		t.Fatal(err)
	}
	if folder, err := builder.Find(t.Context(), Kubernetes); err != nil || folder != filepath.Dir(greet) {
		t.Fatalf("the folder is %s, %v", folder, err)
	}
	if out := says(t, greet); out != "hello" {
		t.Errorf("it says %q", out)
	}
	if again, err := os.Stat(server); err != nil || !os.SameFile(first, again) {
		t.Errorf("etcd was built again: %v\n%s", err, progress.String())
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	cache := t.TempDir()
	builder := &Builder{Root: greeter(t, "v1.0.0", `" + broken + "`), Cache: cache, Out: &bytes.Buffer{}}
	_, err := builder.Find(t.Context(), "greeter/greet")
	if err == nil || !strings.Contains(err.Error(), "undefined: broken") {
		t.Fatalf("the error does not show the compiler's: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "tools", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range left {
		if !strings.HasSuffix(file, ".lock") {
			t.Errorf("%s was left", file)
		}
	}
}

func TestFindUnknown(t *testing.T) {
	builder := &Builder{Root: greeter(t, "v1.0.0", "hello"), Cache: t.TempDir(), Out: &bytes.Buffer{}}
	for _, name := range []string{"nothing", "greeter/nothing", "other/greet"} {
		if path, err := builder.Find(t.Context(), name); err == nil || !strings.Contains(err.Error(), "greeter") {
			t.Errorf("Find(%q) = %q, %v, want an error that names the tools", name, path, err)
		}
	}
	if dir, err := builder.Find(t.Context(), "greeter"); err != nil || !strings.Contains(dir, "greeter-") {
		t.Errorf("Find of a tool = %q, %v, want its folder", dir, err)
	}
}
