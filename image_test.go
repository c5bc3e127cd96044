package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// built is what makes one image the same as another. A file is known by its name where it comes from.
type built struct {
	user, entrypoint string
	files, labels    map[string]string
}

// TestImages wants the image of the Dockerfile and that of `make image` to be the same: an empty one with the operator's
// programs, which run as someone without rights.
func TestImages(t *testing.T) {
	want := built{
		user: "65532:65532", entrypoint: "/manager",
		files: map[string]string{
			"/manager": "manager", task.Program: "agent", "/member-run": "member-run", "/licenses/LICENSE": "LICENSE",
			"/licenses/third-party-licenses.txt": "third-party-licenses.txt",
		},
	}
	docker, lab := ofDockerfile(t), ofMakefile(t)
	if !reflect.DeepEqual(docker, lab) {
		t.Errorf("the Dockerfile makes %+v, make image %+v", docker, lab)
	}
	if docker.user != want.user || docker.entrypoint != want.entrypoint || !maps.Equal(docker.files, want.files) {
		t.Errorf("the Dockerfile makes %+v, want %+v", docker, want)
	}
}

// lines reads a file of the source tree, with continued lines joined.
func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(regexp.MustCompile(`\\\n\s*`).ReplaceAllString(string(text), ""), "\n")
}

// ofDockerfile reads the last stage. What it does not know it refuses.
func ofDockerfile(t *testing.T) built {
	t.Helper()
	b := built{}
	for _, line := range lines(t, "Dockerfile") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		args := words[1:]
		switch words[0] {
		case "FROM":
			if b = (built{files: map[string]string{}, labels: map[string]string{}}); args[0] != "scratch" {
				b.user = "somebody of " + args[0]
			}
		case "LABEL":
			label(b.labels, args, "${VERSION}")
		case "COPY":
			copied(t, b.files, args)
		case "USER":
			b.user = args[0]
		case "ENTRYPOINT":
			b.entrypoint = strings.Trim(args[0], `[]"`)
		case "ARG", "RUN", "WORKDIR":
		default:
			t.Fatalf("this test does not know %s", words[0])
		}
	}
	return b
}

func copied(t *testing.T, files map[string]string, args []string) {
	t.Helper()
	if strings.HasPrefix(args[0], "--from=") {
		args = args[1:]
	}
	last := len(args) - 1
	for _, source := range args[:last] {
		to := args[last]
		if strings.HasSuffix(to, "/") {
			to = path.Join(to, path.Base(source))
		}
		files[to] = path.Base(source)
	}
}

func label(labels map[string]string, pairs []string, version string) {
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		labels[name] = strings.Replace(value, version, "the version", 1)
	}
}

// ofMakefile reads what `make image` says to the lab.
func ofMakefile(t *testing.T) built {
	t.Helper()
	b := built{files: map[string]string{}, labels: map[string]string{}}
	for _, line := range lines(t, "Makefile") {
		arguments, found := strings.CutPrefix(line, "operator-image = ")
		if !found {
			continue
		}
		words := strings.Fields(arguments)
		for i := 0; i+1 < len(words); i += 2 {
			switch value := words[i+1]; words[i] {
			case "--user":
				b.user = value
			case "--entrypoint":
				b.entrypoint = value
			case "--file":
				from, to, _ := strings.Cut(value, ":")
				b.files[to] = filepath.Base(from)
			case "--label":
				label(b.labels, []string{value}, "$(STAMP)")
			default:
				t.Fatalf("this test does not know %s", words[i])
			}
		}
	}
	return b
}
