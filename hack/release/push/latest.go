package push

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/mod/semver"

	"github.com/etcdpilot/etcd-operator/hack/release/images"
)

// latest is the tag that moves. OLM follows that of the catalog, and may install what it finds there at once.
const latest = "latest"

// Latest has the tag latest refer to an image that was pushed, whose tag is its version. It keeps the tag where it is, and says why, if the
// version is a pre-release, or not higher than the one that has the tag, or if that one cannot be told.
func (r Registry) Latest(ctx context.Context, image images.Named) (kept string, err error) {
	at, err := r.Tag(image.Tag)
	if err != nil {
		return "", err
	}
	version := at.TagStr()
	if !semver.IsValid(version) {
		return "", fmt.Errorf("%s: its tag is no version", at)
	}
	if semver.Prerelease(version) != "" {
		return version + " is a pre-release", nil
	}
	want, err := images.Pinned(at, image.Index)
	if err != nil {
		return "", err
	}
	if err := pushed(ctx, at, want); err != nil {
		return "", err
	}
	to := at.Context().Tag(latest)
	now, err := remote.Head(to, options(ctx)...)
	switch {
	case missing(err):
	case err != nil:
		return "", fmt.Errorf("ask for %s: %w", to, err)
	case now.Digest.String() == want.DigestStr():
		return "", nil
	default:
		kept, err = behind(ctx, at, to.Digest(now.Digest.String()))
		if kept != "" || err != nil {
			return kept, err
		}
	}
	if err := remote.Tag(to, image.Index, options(ctx)...); err != nil {
		return "", fmt.Errorf("have %s refer to %s: %w", to, version, err)
	}
	return "", nil
}

// pushed wants a tag to be of that content.
func pushed(ctx context.Context, tag name.Tag, want name.Digest) error {
	found, err := remote.Head(tag, options(ctx)...)
	if missing(err) {
		return fmt.Errorf("%s is not there: push it first", tag)
	}
	if err != nil {
		return fmt.Errorf("ask for %s: %w", tag, err)
	}
	if got := found.Digest.String(); got != want.DigestStr() {
		return fmt.Errorf("%s is %s, and the release here has %s: find out why they differ", tag, got, want.DigestStr())
	}
	return nil
}

// behind says why a version is not above what the tag latest has now, or nothing if it is.
func behind(ctx context.Context, at name.Tag, now name.Digest) (string, error) {
	is, err := versionOf(ctx, now)
	switch {
	case err != nil:
		return "", err
	case is == "":
		return fmt.Sprintf("it is %s, and no version there has that content: find out whose it is", now.DigestStr()), nil
	case semver.Compare(at.TagStr(), is) <= 0:
		return fmt.Sprintf("it is %s, and %s is not higher", is, at.TagStr()), nil
	}
	return "", nil
}

// versionOf is the highest of the versions that have the content of a digest, or empty if none has it.
func versionOf(ctx context.Context, digest name.Digest) (string, error) {
	tags, err := remote.List(digest.Context(), options(ctx)...)
	if err != nil {
		return "", fmt.Errorf("list the tags of %s: %w", digest.Context(), err)
	}
	tags = slices.DeleteFunc(tags, func(tag string) bool { return !semver.IsValid(tag) })
	semver.Sort(tags)
	for _, tag := range slices.Backward(tags) {
		found, err := remote.Head(digest.Context().Tag(tag), options(ctx)...)
		if err != nil {
			return "", fmt.Errorf("ask for %s:%s: %w", digest.Context(), tag, err)
		}
		if found.Digest.String() == digest.DigestStr() {
			return tag, nil
		}
	}
	return "", nil
}
