package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// Tree is a source tree that a release is to be made from.
type Tree struct {
	// Dir is its top folder.
	Dir string
	// Version of the release, without a leading v.
	Version string
}

// Check says everything that keeps the tree from being released. The first error is of what not even a rehearsal can do without, the second
// of what is done on the day of the release.
func (t Tree) Check(ctx context.Context) (never, notYet error) {
	version := "v" + t.Version
	if semver.Canonical(version) != version {
		return fmt.Errorf("VERSION is %q: want one such as 1.2.3 or 1.2.3-rc.1", t.Version), nil
	}
	section, err := t.Section()
	never = errors.Join(err, t.offered())
	if err == nil && section.Date.IsZero() {
		notYet = fmt.Errorf("CHANGELOG.md:%d has %s as Unreleased: write the date there", section.Line, t.Version)
	}
	return never, errors.Join(notYet, t.published(), t.clean(ctx), t.tagged(ctx))
}

// Section is what the changelog says of the version.
func (t Tree) Section() (Section, error) {
	text, err := os.ReadFile(filepath.Join(t.Dir, "CHANGELOG.md"))
	if err != nil {
		return Section{}, fmt.Errorf("read the changelog: %w", err)
	}
	return Cut(string(text), t.Version)
}

// KeyFile is the public key that releases are signed with, in the top folder.
const KeyFile = "cosign.pub"

// Signed says whether releases of the tree are to be signed: whether it has a public key. That depends on the commit alone, as all of a
// release does. The workflow drafts no page without a signature by that key.
func (t Tree) Signed() (bool, error) {
	_, err := os.Stat(filepath.Join(t.Dir, KeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the key of signatures: %w", err)
	}
	return true, nil
}

// offered wants the version to be what a channel of the catalog ends in.
func (t Tree) offered() error {
	const file = "catalog/etcd-operator/channels.yaml"
	text, err := os.ReadFile(filepath.Join(t.Dir, file))
	if err != nil {
		return fmt.Errorf("read the catalog's channels: %w", err)
	}
	type entry struct{ Name, Replaces string }
	want := "etcd-operator.v" + t.Version
	for document := range strings.SplitSeq("\n"+string(text), "\n---\n") {
		var channel struct{ Entries []entry }
		if err := yaml.Unmarshal([]byte(document), &channel); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		has := slices.ContainsFunc(channel.Entries, func(e entry) bool { return e.Name == want })
		replaced := slices.ContainsFunc(channel.Entries, func(e entry) bool { return e.Replaces == want })
		if has && !replaced {
			return nil
		}
	}
	return fmt.Errorf("no channel of %s ends in %s: add an entry that replaces the last one, and run make bundle catalog", file, want)
}

// clean wants nothing in the tree that is in no commit.
func (t Tree) clean(ctx context.Context) error {
	changed, err := t.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree has changes that are in no commit: commit them or put them away\n%s", changed)
	}
	return nil
}

// tagged wants the version's tag, if there is one, to be of this commit.
func (t Tree) tagged(ctx context.Context) error {
	tag := "v" + t.Version
	if tags, err := t.git(ctx, "tag", "--list", tag); err != nil || tags == "" {
		return err
	}
	is, err := t.git(ctx, "rev-parse", tag+"^{commit}")
	if err != nil {
		return err
	}
	head, err := t.git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if is != head {
		return fmt.Errorf("the tag %s is of commit %s, and this is %s: a version is released once", tag, is, head)
	}
	return nil
}

func (t Tree) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = t.Dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(string(output)), nil
}
