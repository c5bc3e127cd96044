package main

import (
	"bytes"
	"os"
	"os/exec"
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

// git runs git in a folder, as somebody.
func git(t *testing.T, folder string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...) // #nosec G204
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestCheckOut takes a tag of the tree's own history, and none that somebody has put on a commit beside it.
func TestCheckOut(t *testing.T) {
	s := site{tree: t.TempDir(), out: t.Output()}
	file := filepath.Join(s.tree, listFile)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, s.tree, "init", "--quiet", "--initial-branch=main")
	git(t, s.tree, "add", ".")
	git(t, s.tree, "commit", "--quiet", "-m", "one")
	git(t, s.tree, "tag", "-a", "-m", "v0.1.0", "v0.1.0")
	git(t, s.tree, "checkout", "--quiet", "-b", "beside")
	git(t, s.tree, "commit", "--quiet", "--allow-empty", "-m", "beside")
	git(t, s.tree, "tag", "v0.1.1")
	git(t, s.tree, "checkout", "--quiet", "main")
	git(t, s.tree, "commit", "--quiet", "--allow-empty", "-m", "two")
	tree := filepath.Join(t.TempDir(), "tree")
	if err := s.checkOut(t.Context(), "v0.1.0", tree); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(tree, listFile)); err != nil || string(text) != "[]" {
		t.Errorf("the list is %q, %v", text, err)
	}
	err := s.checkOut(t.Context(), "v0.1.1", filepath.Join(t.TempDir(), "tree"))
	if err == nil || !strings.Contains(err.Error(), "v0.1.1 is not in the history of this tree") {
		t.Errorf("of a commit beside it: %v", err)
	}
}

// TestRunTellsNothing keeps what this program was told by a make or a runner from those that it runs.
func TestRunTellsNothing(t *testing.T) {
	for _, variable := range []string{"MAKEFLAGS", "VERSION", "GITHUB_ENV", "GITHUB_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"} {
		t.Setenv(variable, "told")
	}
	t.Setenv("KEPT", "kept")
	var out bytes.Buffer
	if err := (site{out: &out}).run(t.Context(), t.TempDir(), "env"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "=told") || !strings.Contains(out.String(), "KEPT=kept") {
		t.Errorf("it was told\n%s", out.String())
	}
}
