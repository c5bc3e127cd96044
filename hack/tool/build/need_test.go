package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProgramsThatAreThereNeedNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	needs := []Need{{Program: "runner", Package: "runner-static"}}
	err := EnsurePrograms(t.Context(), &bytes.Buffer{}, needs)
	if err == nil || !strings.Contains(err.Error(), "runner-static") {
		t.Errorf("without it and without apt-get: %v, want an error that names the package", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runner"), []byte("#!/bin/sh\n"), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := EnsurePrograms(t.Context(), &out, needs); err != nil || out.Len() > 0 {
		t.Errorf("with it: %v, %q", err, out.String())
	}
}
