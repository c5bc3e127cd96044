package reproducible

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	// programs are those of the operator's image.
	programs = []string{"manager", "agent", "member-run"}
	// besides are released, too: kubectl's plugin, and the bundle's tests.
	besides = []string{"kubectl-etcd", "scorecard-etcd"}
)

// TestReproducible builds this commit in one folder, and in another one, with another umask, module cache and build cache.
func TestReproducible(t *testing.T) {
	first := clone(t, "022", "etcd-operator")
	run(t, first, nil, "umask 022; make sbom image-archive plugin build-scorecard")
	second := clone(t, "077", "some", "other", "folder")
	// Only what is shipped has to be compiled anew.
	run(t, second, elsewhere(t), "umask 077; make build plugin build-scorecard")
	run(t, second, nil, "umask 077; make -o build sbom image-archive")
	for _, program := range programs {
		wantSame(t, filepath.Join(first, "bin", program), filepath.Join(second, "bin", program))
		bom := filepath.Join("dist", "sbom", program+".cdx.json")
		wantSame(t, filepath.Join(first, bom), filepath.Join(second, bom))
		t.Run("sbom/"+program, func(t *testing.T) {
			wantModules(t, filepath.Join(first, bom), filepath.Join(first, "bin", program))
		})
	}
	for _, program := range besides {
		wantSame(t, filepath.Join(first, "bin", program), filepath.Join(second, "bin", program))
	}
	image := filepath.Join("dist", "image.tar")
	wantSame(t, filepath.Join(first, image), filepath.Join(second, image))
	t.Run("dockerfile", func(t *testing.T) {
		stamp := strings.TrimSpace(run(t, first, nil, "git describe --tags --always --abbrev=12"))
		out := dockerfile(t, first, "VERSION="+stamp)
		for _, program := range programs {
			wantSame(t, filepath.Join(first, "bin", program), filepath.Join(out, program))
		}
	})
}

// wantSame compares two files byte for byte.
func wantSame(t *testing.T, one, other string) {
	t.Helper()
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		t.Errorf("%s and %s differ from byte %d on: %d and %d bytes", one, other, at, len(a), len(b))
		return
	}
	t.Logf("sha256 %x  %s", sha256.Sum256(a), filepath.Base(one))
}
