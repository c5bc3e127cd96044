package archive

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var made = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// source is a folder with a program and a text, made with other rights and at another time for each test.
func source(t *testing.T, program, text os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs", "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, mode := range map[string]os.FileMode{"program": program, "docs/text": text} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("content of "+file), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, file), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t *testing.T, name, folder string, at time.Time) []byte {
	t.Helper()
	entries, err := Folder(folder, "top")
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(entries)
	file := filepath.Join(t.TempDir(), name)
	if err := Write(file, entries, at); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestWriteIsReproducible(t *testing.T) {
	for _, name := range []string{"a.tar", "a.tar.gz", "a.tgz", "a.zip"} {
		one := write(t, name, source(t, 0o700, 0o600), made)
		other := write(t, name, source(t, 0o755, 0o644), made.In(time.FixedZone("elsewhere", 3600)))
		if !bytes.Equal(one, other) {
			t.Errorf("%s depends on more than its files and time", name)
		}
		if later := write(t, name, source(t, 0o700, 0o600), made.Add(time.Hour)); bytes.Equal(one, later) {
			t.Errorf("%s does not have the time", name)
		}
	}
	if err := Write(filepath.Join(t.TempDir(), "a.rar"), nil, made); err == nil {
		t.Error("an archive of no known kind was written")
	}
}

// TestTarCanBeUnpacked has tar unpack it, as users do.
func TestTarCanBeUnpacked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.tar.gz")
	if err := os.WriteFile(file, write(t, "a.tar.gz", source(t, 0o700, 0o600), made), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "tar", "-xpf", file, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for name, want := range map[string]os.FileMode{"top/program": 0o755, "top/docs/text": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want || !info.ModTime().Equal(made) {
			t.Errorf("%s is %s, of %s", name, info.Mode(), info.ModTime().UTC())
		}
	}
}

func TestZip(t *testing.T) {
	content := write(t, "a.zip", source(t, 0o700, 0o600), made)
	reader, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range reader.File {
		got = append(got, file.Name+" "+file.Mode().String())
		if !file.Modified.Equal(made) {
			t.Errorf("%s is of %s", file.Name, file.Modified)
		}
	}
	if want := []string{"top/docs/text -rw-r--r--", "top/program -rwxr-xr-x"}; !slices.Equal(got, want) {
		t.Errorf("it has %q, want %q", got, want)
	}
}

func TestUnpack(t *testing.T) {
	file, folder := filepath.Join(t.TempDir(), "a.tar"), t.TempDir()
	if err := os.WriteFile(file, write(t, "a.tar", source(t, 0o700, 0o600), made), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(file, folder); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(filepath.Join(folder, "top", "docs", "text")); err != nil || string(content) != "content of docs/text" {
		t.Errorf("it has %q, %v", content, err)
	}
	if err := Write(file, []Entry{{Name: "../beside"}}, made); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(file, folder); err == nil || !strings.Contains(err.Error(), "../beside") {
		t.Errorf("a file beside the folder: %v", err)
	}
}
