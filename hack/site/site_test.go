package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		`[{version: "0.1", name: a}]`:                                                      "0.1",
		`[{version: "0.2"}, {version: "0.1", tag: v0.1.3}]`:                                "0.1",
		`[{version: "0.3"}, {version: "0.2", tag: v0.2.0}, {version: "0.1", tag: v0.1.3}]`: "0.2",
		`[{version: "0.2"}, {version: "0.1"}]`:                                             "2 versions have no tag",
		`[{version: "0.1", tag: v0.1.0}]`:                                                  "0 versions have no tag",
		`[{version: "0.2"}, {version: "0.1", tag: v0.2.0}]`:                                "want one of that version",
		`[{version: "0.2"}, {version: "0.1", tag: main}]`:                                  "want one of that version",
		`[{version: ../up}]`:                                                               "want one such as 0.1",
	} {
		s := site{tree: t.TempDir()}
		file := filepath.Join(s.tree, listFile)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := s.versions()
		if err == nil && first(all).Version != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %s", text, all, err, want)
		}
	}
}
