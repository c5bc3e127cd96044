package build

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestModuleVersion(t *testing.T) {
	module, err := modfile.Parse("go.mod", []byte("module m\nrequire (\n"+
		"go.etcd.io/etcd/server/v3 v3.6.16\ngo.etcd.io/etcd/server v1.0.0\ngo.etcd.io/etcd/serv v1.0.1\n)\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for pkg, want := range map[string]string{
		"go.etcd.io/etcd/server/v3":       "v3.6.16",
		"go.etcd.io/etcd/server/v3/embed": "v3.6.16",
		"go.etcd.io/etcd/server/cmd":      "v1.0.0",
		"go.etcd.io/etcd/serverless":      "",
	} {
		if got := moduleVersion(module, pkg); got != want {
			t.Errorf("moduleVersion(%q) = %q, want %q", pkg, got, want)
		}
	}
}

// TestMakeRunsWhatIsPinned looks for the programs that the Makefile asks this one for.
func TestMakeRunsWhatIsPinned(t *testing.T) {
	builder, err := New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	names, err := list(builder.Root)
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]bool{}
	for _, name := range names {
		tool, err := builder.Pinned(name)
		if err != nil {
			t.Fatal(err)
		}
		for program := range tool.Binaries {
			pinned[program], pinned[name+"/"+program] = true, true
		}
	}
	asked := map[string]bool{}
	for _, file := range []string{"Makefile", "hack/bundle.mk", "hack/docs.mk", "hack/namespaced.mk", "hack/release.mk"} {
		text, err := os.ReadFile(filepath.Join(builder.Root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range regexp.MustCompile(`call tool,([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
			asked[call[1]] = true
		}
	}
	if len(asked) == 0 {
		t.Fatal("make asks for no tool: this test reads it wrongly")
	}
	for program := range asked {
		if !pinned[program] {
			t.Errorf("make runs %s, which hack/tools lacks", program)
		}
	}
}

// TestWhichToolHasAProgram asks for programs that several tools have, by themselves and with a tool.
func TestWhichToolHasAProgram(t *testing.T) {
	builder, err := New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"etcd": {Etcd36, "etcd"}, "etcd37/etcdctl": {Etcd37, "etcdctl"},
		"kube-apiserver": {Kubernetes, "kube-apiserver"}, "kubernetes-oldest/kube-apiserver": {KubernetesOldest, "kube-apiserver"},
		Kubernetes: {Kubernetes, ""}, KubernetesOldest: {KubernetesOldest, ""},
	} {
		tool, program, err := builder.which(name)
		if got := [2]string{tool.Name, program}; err != nil || got != want {
			t.Errorf("%s means %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestToolsThatShareVersions holds tools to the same versions of what they have in common: then Go compiles that once.
func TestToolsThatShareVersions(t *testing.T) {
	root, err := SourceRoot()
	if err != nil {
		t.Fatal(err)
	}
	for one, other := range map[string]string{OPM: OperatorSDK, LocalPath: Kubernetes} {
		wants, shared := versions(t, root, other), 0
		for module, version := range versions(t, root, one) {
			want, found := wants[module]
			if !found {
				continue
			}
			if shared++; version != want {
				t.Errorf("%s pins %s at %s, %s at %s: run go get in the one that is behind, and go mod tidy",
					one, module, version, other, want)
			}
		}
		if shared == 0 {
			t.Errorf("%s and %s have nothing in common: this test reads them wrongly", one, other)
		}
	}
}

// versions returns the versions that a tool is built with.
func versions(t *testing.T, root, tool string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "hack", "tools", tool, goPins))
	if err != nil {
		t.Fatal(err)
	}
	module, err := modfile.Parse(goPins, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, required := range module.Require {
		found[required.Mod.Path] = required.Mod.Version
	}
	for _, replaced := range module.Replace {
		found[replaced.Old.Path] = replaced.New.Version
	}
	return found
}

func TestModuleDirOfAPin(t *testing.T) {
	builder, err := New(t.Output())
	if err != nil {
		t.Fatal(err)
	}
	const module = "sigs.k8s.io/yaml"
	dir, err := builder.ModuleDir(t.Context(), OLM, module)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || modfile.ModulePath(data) != module {
		t.Errorf("%s is not the folder of %s: %v", dir, module, err)
	}
	const unknown = "example.com/absent"
	if _, err := builder.ModuleDir(t.Context(), OLM, unknown); err == nil || !strings.Contains(err.Error(), "not a known dependency") {
		t.Errorf("a module that is not pinned: %v", err)
	}
	if _, err := builder.ModuleDir(t.Context(), "absent", module); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a tool that is not there: %v", err)
	}
}
