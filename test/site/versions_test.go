package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const listFile = "docs/site/data/versions.yaml"

// TestVersions makes the site of a tree that has two versions, one of which is a tag from before the other was thought of, and wants each to
// lead to the other, and every link within and between them to what is there.
func TestVersions(t *testing.T) {
	tree, dist := t.TempDir(), t.TempDir()
	command(t, "../..", "git ls-files -z | tar -cf - --null --files-from=- | tar -xf - -C "+tree)
	command(t, tree, "git init --quiet")
	commit := func(version, list string) {
		rewrite(t, filepath.Join(tree, "Makefile"), regexp.MustCompile(`(?m)^VERSION \?= .*$`), "VERSION ?= "+version)
		rewrite(t, filepath.Join(tree, listFile), regexp.MustCompile(`(?s).*`), list)
		command(t, tree, "git add --all && git -c user.name=test -c user.email=test@example.com commit --quiet --message "+version)
	}
	commit("0.8.3", "[{version: '0.8', name: 0.8 (development)}]")
	command(t, tree, "git tag v0.8.3 && git rm --quiet docs/benchmarks.md && sed -i '/benchmarks[.]md/d' docs/site/data/menu.yaml")
	commit("0.9.0", "[{version: '0.9', name: 0.9 (development)}, {version: '0.8', tag: v0.8.3, name: '0.8'}]")
	command(t, tree, "make docs-versions VERSION=0.9.0 DIST="+dist)

	site := filepath.Join(dist, "docs-versions")
	all := pages(t, site)
	for from, to := range map[string][]string{
		"index.html":              {"0.8/"},
		"0.9/index.html":          {"../0.8/"},
		"0.8/index.html":          {"../0.9/"},
		"0.8/tls/index.html":      {"../../0.9/"},
		"0.9/runbooks/index.html": {"../../0.8/"},
	} {
		for _, want := range to {
			if !slices.ContainsFunc(all[from].references, func(r reference) bool { return r.element == "a" && r.to == want }) {
				t.Errorf("%s does not lead to %s", from, want)
			}
		}
	}
	if _, has := all["0.8/benchmarks/index.html"]; !has {
		t.Error("0.8 lacks a document that its tag has")
	}
	if _, has := all["0.9/benchmarks/index.html"]; has {
		t.Error("0.9 has a document of 0.8")
	}
	checkLinks(t, site, nil)
}

func rewrite(t *testing.T, file string, old *regexp.Regexp, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	place := old.FindIndex(text)
	if place == nil {
		t.Fatalf("%s has no %s", file, old)
	}
	if err := os.WriteFile(filepath.Clean(file), []byte(string(text[:place[0]])+to+string(text[place[1]:])), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command runs a command, without what a make around this test was told.
func command(t *testing.T, folder, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = folder
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "MAKE") || strings.HasPrefix(pair, "MFLAGS=")
	})
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", text, err, said)
	}
}
