package image

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "deep", "empty"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"top", "deep/below"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Folder(dir, "/configs")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]File{
		"/configs/top":        {Source: filepath.Join(dir, "top")},
		"/configs/deep/below": {Source: filepath.Join(dir, "deep", "below")},
	}
	if !maps.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
	one := filepath.Join(dir, "top")
	if got, err := Folder(one, "/etc/one"); err != nil || !maps.Equal(got, map[string]File{"/etc/one": {Source: one}}) {
		t.Errorf("a file alone gave %v, %v", slices.Collect(maps.Keys(got)), err)
	}
	if _, err := Folder(filepath.Join(dir, "absent"), "/"); err == nil {
		t.Error("a folder that is not there was taken")
	}
}
