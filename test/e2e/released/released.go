// Package released rehearses releases of a source tree, by the targets of those who publish one, and offers them in the lab's registry.
package released

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Release is what make release has made.
type Release struct {
	// Version is without a leading v.
	Version string
	// Tree is the source tree that it was made from.
	Tree string
	// Digests is the file with those of etcd's images.
	Digests string
}

// Folder has the files of the release's page.
func (r Release) Folder() string { return filepath.Join(r.Tree, "dist", "v"+r.Version) }

// File is one of them.
func (r Release) File(name string) string { return filepath.Join(r.Folder(), name) }

// Image is the name by digest of one of the release's images, such as etcd-operator.
func (r Release) Image(name string) (string, error) {
	images, err := r.Images()
	if err != nil {
		return "", err
	}
	for _, image := range images {
		if base, _, _ := strings.Cut(path.Base(image), "@"); base == name {
			return image, nil
		}
	}
	return "", fmt.Errorf("release %s has no image %s, but %q", r.Version, name, images)
}

// Images are the names by digest of all of its images.
func (r Release) Images() ([]string, error) {
	text, err := os.ReadFile(r.File("images.txt"))
	if err != nil {
		return nil, fmt.Errorf("read the images of release %s: %w", r.Version, err)
	}
	return strings.Fields(string(text)), nil
}

// Pair gives a release of the commit that a source tree is at, and one of the version after it, which differs in its version and in what
// was written for that: what replaces what can be tried before there is another version. Both are for this machine alone, and name the images
// of etcd that the lab has. They are kept, and made anew for another commit, version, compiler or etcd. Out gets what make prints.
func Pair(ctx context.Context, root, version string, out io.Writer) (this, next Release, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return this, next, fmt.Errorf("keep releases: %w", err)
	}
	commit, err := git(ctx, root, "rev-parse", "HEAD")
	if err != nil {
		return this, next, err
	}
	after, err := following(version)
	if err != nil {
		return this, next, err
	}
	folder := filepath.Join(cache, "etcd-operator-released")
	file := folder + "-digests.txt"
	digests, err := etcdDigests(ctx, root, file, out)
	if err != nil {
		return this, next, err
	}
	this, next = Release{version, filepath.Join(folder, "this"), file}, Release{after, filepath.Join(folder, "next"), file}
	of, kept := strings.Join([]string{commit, version, runtime.Version(), digests}, " "), filepath.Join(folder, "of")
	if was, err := os.ReadFile(kept); err == nil && string(was) == of {
		return this, next, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return this, next, fmt.Errorf("look for releases: %w", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return this, next, fmt.Errorf("remove former releases: %w", err)
	}
	if err := makePair(ctx, root, commit, this, next, out); err != nil {
		return this, next, err
	}
	return this, next, os.WriteFile(kept, []byte(of), 0o600)
}

func makePair(ctx context.Context, root, commit string, this, next Release, out io.Writer) error {
	if err := this.clone(ctx, root, commit); err != nil {
		return err
	}
	if err := this.make(ctx, out); err != nil {
		return err
	}
	if err := next.clone(ctx, root, commit); err != nil {
		return err
	}
	if err := next.begin(ctx, this); err != nil {
		return err
	}
	return next.make(ctx, out)
}

var numbers = regexp.MustCompile(`^(\d+\.\d+)\.(\d+)(-.+)?$`)

// following is the next patch release.
func following(version string) (string, error) {
	parts := numbers.FindStringSubmatch(version)
	if parts == nil {
		return "", fmt.Errorf("VERSION is %q: want one such as 1.2.3", version)
	}
	patch, err := strconv.Atoi(parts[2])
	if err != nil {
		return "", fmt.Errorf("VERSION is %q: %w", version, err)
	}
	return fmt.Sprintf("%s.%d", parts[1], patch+1), nil
}
