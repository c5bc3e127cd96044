package released

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

// clone makes the release's tree: the commit, and nothing of what is in no commit.
func (r Release) clone(ctx context.Context, root, commit string) error {
	if _, err := git(ctx, root, "clone", "--quiet", "--no-checkout", root, r.Tree); err != nil {
		return err
	}
	_, err := git(ctx, r.Tree, "checkout", "--quiet", "--detach", commit)
	return err
}

// make makes the release. Nothing of it is published, so it need not have a date or a tag.
func (r Release) make(ctx context.Context, out io.Writer) error {
	platform := "linux/" + runtime.GOARCH
	return r.makes(ctx, out, "release", "REHEARSAL=yes", "PLATFORMS="+platform, "PLUGIN_PLATFORMS="+platform, "ETCD_DIGESTS="+r.Digests)
}

// etcdDigests writes into a file which images of etcd the lab has, as a release has it of quay.io, and returns what it has written. The lab
// has those of its own architecture.
func etcdDigests(ctx context.Context, root, file string, out io.Writer) (string, error) {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("forget the digests of etcd's images: %w", err)
	}
	if err := runMake(ctx, root, out, "etcd-digests", "ETCD_DIGESTS="+file, "ETCD_REGISTRY="+lab.Registry, "REHEARSAL=yes"); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return "", fmt.Errorf("read the digests of etcd's images: %w", err)
	}
	return string(text), nil
}

// makes has make build a target for the release's version.
func (r Release) makes(ctx context.Context, out io.Writer, args ...string) error {
	return runMake(ctx, r.Tree, out, append(args, "VERSION="+r.Version)...)
}

// begin does in the tree what docs/release.md says of how to begin the next version, but for make bundle catalog: make release makes both.
func (r Release) begin(ctx context.Context, after Release) error {
	catalog := filepath.Join("catalog", "etcd-operator")
	offered, err := os.ReadFile(after.File("catalog-v" + after.Version + ".yaml"))
	if err != nil {
		return fmt.Errorf("read what the catalog has of %s: %w", after.Version, err)
	}
	if err := os.WriteFile(filepath.Join(r.Tree, catalog, "v"+after.Version+".yaml"), offered, 0o600); err != nil {
		return fmt.Errorf("offer %s: %w", after.Version, err)
	}
	title := "\n## [" + after.Version + "]"
	err = errors.Join(
		edit(filepath.Join(r.Tree, "Makefile"), "\nVERSION ?= "+after.Version+"\n", "\nVERSION ?= "+r.Version+"\n"),
		edit(filepath.Join(r.Tree, "CHANGELOG.md"), title, "\n## ["+r.Version+"] - Unreleased\n\n- A rehearsal.\n"+title),
		// The last entry of the last channel is the version before.
		edit(filepath.Join(r.Tree, catalog, "channels.yaml"), "", fmt.Sprintf(
			"- name: etcd-operator.v%[2]s\n  replaces: etcd-operator.v%[1]s\n  skipRange: \">=%[1]s <%[2]s\"\n", after.Version, r.Version)),
	)
	if err != nil {
		return err
	}
	if _, err := git(ctx, r.Tree, "add", "--all"); err != nil {
		return err
	}
	_, err = git(ctx, r.Tree, "-c", "user.name=rehearsal", "-c", "user.email=rehearsal@example.com", "commit", "--quiet", "-m", "Begin "+r.Version)
	return err
}

// edit replaces a text that a file has once, or, if that is empty, adds to the file.
func edit(file, old, changed string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("begin the next version: %w", err)
	}
	text := string(content)
	switch {
	case old == "":
		text += changed
	case strings.Count(text, old) == 1:
		text = strings.Replace(text, old, changed, 1)
	default:
		return fmt.Errorf("begin the next version: %s has %q %d times", file, old, strings.Count(text, old))
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// git gives what git prints, without white space around it.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = folder
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
