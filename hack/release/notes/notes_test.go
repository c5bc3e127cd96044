package notes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const changelog = `# Changelog

What users notice.

## [0.2.0] - Unreleased

### Added

- Something, as in [install](docs/install.md#helm), [the license](LICENSE) and [elsewhere](https://example.com/a).

## [0.1.0] - 2026-01-31

- The first.

## [0.0.3] - soon

- A date that is none.

## [0.0.2] - 2026-01-30

## [0.0.1] - 2026-01-29

- The last of all.

[0.1.0]: https://example.com
`

func TestCut(t *testing.T) {
	first, err := Cut(changelog, "0.1.0")
	if err != nil || first.Text != "- The first." || !first.Date.Equal(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", first, err)
	}
	if last, err := Cut(changelog, "0.0.1"); err != nil || last.Text != "- The last of all." {
		t.Errorf("%+v, %v", last, err)
	}
	next, err := Cut(changelog, "0.2.0")
	if err != nil || !next.Date.IsZero() || next.Line != 5 {
		t.Errorf("%+v, %v", next, err)
	}
	page := next.Page("https://example.com/o", "0.2.0", "go1.26.8", []string{"example.com/o@sha256:1"}, true)
	for _, want := range []string{
		"### Added\n", "[install](https://example.com/o/blob/v0.2.0/docs/install.md#helm)", "[the license](https://example.com/o/blob/v0.2.0/LICENSE)",
		"[elsewhere](https://example.com/a)", "\nexample.com/o@sha256:1\n", "Made with go1.26.8.",
		"are signed with the key of [cosign.pub](https://example.com/o/blob/v0.2.0/cosign.pub)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if page := next.Page("https://example.com/o", "0.2.0", "go1.26.8", nil, false); !strings.Contains(page, "This release is not signed.") {
		t.Errorf("the page of a release without signatures says nothing of that:\n%s", page)
	}
	for _, version := range []string{"0.3.0", "0x1.0", "0.0.3", "0.0.2", "1.0"} {
		if section, err := Cut(changelog, version); err == nil || !strings.Contains(err.Error(), version) {
			t.Errorf("%s: %+v, %v, want an error that names it", version, section, err)
		}
	}
}

// TestPageOfTheFirst has the page of the first release, which may be rehearsed, not say of itself that it is not there.
func TestPageOfTheFirst(t *testing.T) {
	for text, want := range map[string]string{
		"The first release. Nothing is published yet.\n\n### Added": "The first release.\n\n### Added\n\n### Images",
		"Nothing is published yet.\n\n### Added":                    "### Added\n\n### Images",
	} {
		if page := (Section{Text: text}).Page("https://example.com/o", "0.1.0", "go1.26.8", nil, false); !strings.HasPrefix(page, want) {
			t.Errorf("the page begins with\n%s\nwant\n%s", page, want)
		}
	}
}

// tree is a repository with one commit.
func tree(t *testing.T) Tree {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{
		"CHANGELOG.md":                 changelog,
		"docs/site/data/versions.yaml": "- {version: \"0.2\", name: 0.2 (development)}\n- {version: \"0.1\", tag: v0.1.0, name: \"0.1\"}\n",
		"catalog/etcd-operator/channels.yaml": "schema: olm.channel\nname: stable\nentries:\n- name: etcd-operator.v0.1.0\n" +
			"---\nschema: olm.channel\nname: candidate\nentries:\n- name: etcd-operator.v0.1.0\n- name: etcd-operator.v0.2.0\n" +
			"  replaces: etcd-operator.v0.1.0\n- name: etcd-operator.v0.0.1\n- name: etcd-operator.v0.3.0\n  replaces: etcd-operator.v0.0.1\n",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", ".")
	commit(t, dir, "first")
	return Tree{Dir: dir, Version: "0.1.0"}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, output)
	}
}

func commit(t *testing.T, dir, message string) {
	t.Helper()
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "-m", message)
}

func TestCheck(t *testing.T) {
	released := tree(t)
	if never, notYet := released.Check(t.Context()); never != nil || notYet != nil {
		t.Fatalf("%v, %v", never, notYet)
	}
	git(t, released.Dir, "tag", "v0.1.0")
	if never, notYet := released.Check(t.Context()); never != nil || notYet != nil {
		t.Errorf("with its tag: %v, %v", never, notYet)
	}
	for name, test := range map[string]struct {
		version       string
		never, notYet string
		change        func(t *testing.T, dir string)
	}{
		"no version":      {version: "v0.1.0", never: "VERSION"},
		"half a version":  {version: "0.1", never: "VERSION"},
		"no changelog":    {version: "0.3.0", never: "CHANGELOG.md"},
		"no channel":      {version: "0.0.2", never: "channels.yaml"},
		"not the last":    {version: "0.0.1", never: "channels.yaml"},
		"no date":         {version: "0.2.0", notYet: "CHANGELOG.md:5 has 0.2.0 as Unreleased"},
		"nothing yet":     {version: "0.1.0", notYet: `docs/install.md:3 says "Nothing is published yet"`, change: saying("docs/install.md", "# Install\n\nNothing is published yet. Wait.\n")},
		"not released":    {version: "0.1.0", notYet: `README.md:2 says ", not released |"`, change: saying("README.md", "| --- | --- |\n| 0.1.0, not released | 1.36 |\n")},
		"another version": {version: "0.1.0", notYet: `docs/install.md:1 names version 0.0.9 of this operator: write 0.1.0`, change: saying("docs/install.md", "dist/v0.1.0, releases/download/v0.0.9/install.yaml and ETCD_VERSION=3.6.16\n")},
		"another page":    {version: "0.1.0", notYet: `docs/install.md:1 names version 0.0.9 of this operator: write 0.1.0`, change: saying("docs/install.md", "https://github.com/etcdpilot/etcd-operator/blob/v0.0.9/docs/reasons.md, and https://github.com/etcd-io/etcd/blob/v3.6.16/README.md\n")},
		"a pre-release":   {version: "0.2.0-rc-1", never: "CHANGELOG.md", notYet: "docs/install.md:2 names version 0.2.0-rc-2 of this operator", change: saying("docs/install.md", "dist/etcd-operator-0.2.0-rc-1.tgz catalog-v0.2.0-rc-1.yaml\netcd-operator-0.2.0-rc-2.tgz\n")},
		"in development":  {version: "0.2.0", notYet: `docs/site/data/versions.yaml:1 says "(development)"`},
		"another commit":  {version: "0.1.0", notYet: "the tag v0.1.0", change: tagged},
		"a changed tree":  {version: "0.1.0", notYet: "CHANGELOG.md", change: changed},
		"a file too many": {version: "0.1.0", notYet: "more.txt", change: added},
	} {
		t.Run(name, func(t *testing.T) {
			tree := tree(t)
			tree.Version = test.version
			if test.change != nil {
				test.change(t, tree.Dir)
			}
			never, notYet := tree.Check(t.Context())
			wants(t, never, test.never)
			wants(t, notYet, test.notYet)
		})
	}
}

// TestSigned has the page tell of signatures once the tree has the key that they are verified with.
func TestSigned(t *testing.T) {
	tree := tree(t)
	if signed, err := tree.Signed(); signed || err != nil {
		t.Errorf("without a key: %t, %v", signed, err)
	}
	if err := os.WriteFile(filepath.Join(tree.Dir, KeyFile), []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if signed, err := tree.Signed(); !signed || err != nil {
		t.Errorf("with a key: %t, %v", signed, err)
	}
}

func tagged(t *testing.T, dir string) {
	git(t, dir, "tag", "v0.1.0")
	commit(t, dir, "second")
}

func changed(t *testing.T, dir string) {
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// saying commits a document.
func saying(file, text string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "add", ".")
		commit(t, dir, "say")
	}
}

func added(t *testing.T, dir string) {
	if err := os.WriteFile(filepath.Join(dir, "more.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, err error, text string) {
	t.Helper()
	if (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want an error with %q", err, text)
	}
}
