// Package internal_test holds what may be linked into what.
package internal_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const module = "github.com/etcdpilot/etcd-operator"

// What is linked by whoever talks to someone, as beginnings of import paths.
var (
	clouds = []string{
		"cloud.google.com/go", "github.com/Azure/", "github.com/aws/", "gocloud.dev", "google.golang.org/api",
	}
	kubernetes = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"}
	etcdClient = []string{"go.etcd.io/etcd/client/v3", "google.golang.org/grpc"}
	// model is what the planner is checked in, and kubectl-etcd foresees with.
	model = []string{module + "/internal/world", module + "/internal/etcd/etcdtest"}
	// etcdServer is what restores data, and reads it.
	etcdServer = []string{"go.etcd.io/etcd/etcdutl", "go.etcd.io/etcd/server", "go.etcd.io/bbolt"}
)

// dependency is a package as go list describes it.
type dependency struct {
	ImportPath, Dir string
	Imports         []string
}

// dependencies lists packages and all that they import, directly or not. It looks at the folders of this module's itself, too:
// Go takes a test's result from its cache unless a file has changed that the test has looked at, not a program that it ran.
func dependencies(t *testing.T, packages ...string) []dependency {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-json=ImportPath,Dir,Imports"}, packages...)...)
	list.Dir = ".."
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []dependency
	for decoder := json.NewDecoder(strings.NewReader(string(text))); ; {
		var d dependency
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(d.ImportPath, module) {
			if _, err := os.ReadDir(d.Dir); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, d)
	}
}

// within reports whether an import path begins with one of these, or is it if that ends with $, as in the linter's rules.
func within(path string, denied []string) bool {
	return slices.ContainsFunc(denied, func(d string) bool {
		exact, found := strings.CutSuffix(d, "$")
		return found && path == exact || !found && strings.HasPrefix(path, d)
	})
}

// TestPrograms holds what each program of the image does without. What it links it has in memory, and is attacked by.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for program, denied := range map[string][]string{
		".":                slices.Concat(clouds, etcdServer, model),
		"./cmd/agent":      slices.Concat(kubernetes, model),
		"./cmd/member-run": slices.Concat(clouds, kubernetes, model),
	} {
		for _, d := range dependencies(t, program) {
			if within(d.ImportPath, denied) {
				t.Errorf("%s links %s", program, d.ImportPath)
			}
		}
	}
}

// pureRule reads what the linter's rule says of the packages that are pure: which they are, below this folder, and what they may
// not import.
func pureRule(t *testing.T) (folders, denied []string) {
	t.Helper()
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Files []string
						Deny  []struct{ Pkg string }
					}
				}
			}
		}
	}
	text, err := os.ReadFile(filepath.Join("..", ".golangci.yml"))
	if err == nil {
		err = yaml.Unmarshal(text, &config)
	}
	if err != nil {
		t.Fatal(err)
	}
	rule := config.Linters.Settings.Depguard.Rules["pure"]
	for _, glob := range rule.Files {
		if folder, found := strings.CutPrefix(glob, "**/internal/"); found {
			folders = append(folders, strings.TrimSuffix(folder, "/**"))
		}
	}
	for _, d := range rule.Deny {
		denied = append(denied, d.Pkg)
	}
	if len(folders) == 0 || len(denied) == 0 {
		t.Fatalf("the rule denies %q to %q", denied, folders)
	}
	return folders, denied
}

// TestPurity holds transitively what the linter holds of direct imports: what decides, and the contracts that it agrees on with
// others, know no client of anyone's.
func TestPurity(t *testing.T) {
	t.Parallel()
	folders, denied := pureRule(t)
	for _, folder := range []string{"plan", "resources", "status", "task"} {
		if !slices.Contains(folders, folder) {
			t.Errorf("the linter's rule does not hold for internal/%s", folder)
		}
	}
	own := []string{module + "/api/v1beta2"}
	var packages []string
	for _, folder := range folders {
		own, packages = append(own, module+"/internal/"+folder), append(packages, "./internal/"+folder+"/...")
	}
	clients := slices.Concat(clouds, kubernetes, etcdClient, etcdServer)
	for _, d := range dependencies(t, packages...) {
		switch {
		case within(d.ImportPath, clients):
			t.Errorf("a pure package links %s", d.ImportPath)
		case !strings.HasPrefix(d.ImportPath, module):
		case !within(d.ImportPath, own):
			t.Errorf("a pure package imports %s, which is not: see the rule in .golangci.yml", d.ImportPath)
		default:
			for _, imported := range d.Imports {
				if within(imported, denied) {
					t.Errorf("%s imports %s", d.ImportPath, imported)
				}
			}
		}
	}
}
