package reproducible

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// root is the top of the source tree.
const root = "../.."

// clone gives a folder with nothing but this commit, as somebody with that umask gets it.
func clone(t *testing.T, umask string, path ...string) string {
	t.Helper()
	source, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.TrimSpace(run(t, root, nil, "git rev-parse HEAD"))
	dir := filepath.Join(append([]string{t.TempDir()}, path...)...)
	run(t, root, []string{"SOURCE=" + source, "DIR=" + dir, "COMMIT=" + commit},
		"umask "+umask+`; git clone --quiet --no-checkout "$SOURCE" "$DIR"; git -C "$DIR" checkout --quiet --detach "$COMMIT"`)
	return dir
}

// run gives the output of a script. What make has set for this test is not handed on: a build has to set it for itself.
func run(t *testing.T, dir string, env []string, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), setByMake), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", script, err, output, stderr.String())
	}
	return string(output)
}

func setByMake(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	return slices.Contains([]string{"GOFLAGS", "CGO_ENABLED", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}, name)
}

// elsewhere is the environment of a machine on which nothing was compiled before, and that keeps modules in another folder.
func elsewhere(t *testing.T) []string {
	t.Helper()
	modules := filepath.Join(t.TempDir(), "modules")
	if err := os.Symlink(strings.TrimSpace(run(t, root, nil, "go env GOMODCACHE")), modules); err != nil {
		t.Fatal(err)
	}
	return []string{"GOCACHE=" + t.TempDir(), "GOMODCACHE=" + modules}
}

// tool gives the path of a pinned program.
func tool(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(run(t, filepath.Join(root, "hack", "tool"), nil, "go run . "+name))
}

// write writes a file.
func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve runs a registry, and gives its address.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
