package released

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAtRefuses wants whoever names no commit, or one that is too old, to be told so before anything is built.
func TestAtRefuses(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "Makefile"), []byte("build-installer: ## Write dist/install.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "Makefile"},
		{"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", "Begin"},
	} {
		if _, err := git(t.Context(), root, args...); err != nil {
			t.Fatal(err)
		}
	}
	for ref, says := range map[string]string{
		"HEAD": "has no target image-archive", "none": `FROM is "none", which names no commit`, "": `FROM is ""`, "--all": `FROM is "--all"`,
	} {
		folder := t.TempDir()
		if _, err := At(t.Context(), root, ref, folder, io.Discard); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want it to say %q", ref, err, says)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%q: it has begun: %v, %v", ref, left, err)
		}
	}
}
