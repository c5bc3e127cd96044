package sums

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func release(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"b", "a.txt", "SHA256SUMS.sigstore.json"} {
		put(t, dir, name, "content of "+name)
	}
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	dir := release(t)
	if err := Verify(dir); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil || strings.Count(string(text), "\n") != 2 || !strings.Contains(string(text), "  a.txt\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("this machine has no sha256sum")
	}
	cmd := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", File)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, output)
	}
}

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"changed": {func(t *testing.T, dir string) { put(t, dir, "b", "other") }, "b has changed"},
		"missing": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "b")); err != nil {
				t.Fatal(err)
			}
		}, "b: no such file"},
		"added":  {func(t *testing.T, dir string) { put(t, dir, "c", "new") }, "c has no checksum"},
		"no sum": {func(t *testing.T, dir string) { put(t, dir, File, "") }, "a.txt has no checksum"},
		"folder": {func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "d is not a file"},
	} {
		dir := release(t)
		test.change(t, dir)
		if err := Verify(dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, test.want)
		}
	}
	if err := Verify(t.TempDir()); err == nil {
		t.Error("no checksums are none that differ")
	}
}
