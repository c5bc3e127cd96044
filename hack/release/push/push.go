// Package push puts what a release consists of into a registry, and never another content in the place of a version that is there.
package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/etcdpilot/etcd-operator/hack/release/images"
)

// Registry is where to push: a registry, and a folder in it, such as ghcr.io/etcdpilot. Who may do so is read from Docker's configuration,
// where docker login, and others, write it.
type Registry string

func options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
}

// Tag is where an image of the release goes.
func (r Registry) Tag(image name.Tag) (name.Tag, error) {
	tag, err := name.NewTag(string(r)+"/"+path.Base(image.RepositoryStr())+":"+image.TagStr(), name.StrictValidation)
	if err != nil {
		return name.Tag{}, fmt.Errorf("REGISTRY: %w", err)
	}
	return tag, nil
}

// Images pushes images, and returns what they are called there, by digest. If one has a tag that is taken by another content, none is pushed.
func (r Registry) Images(ctx context.Context, all []images.Named) ([]name.Digest, error) {
	tags := make([]name.Tag, len(all))
	pinned := make([]name.Digest, len(all))
	for i, image := range all {
		var err error
		if tags[i], err = r.Tag(image.Tag); err != nil {
			return nil, err
		}
		if pinned[i], err = images.Pinned(tags[i], image.Index); err != nil {
			return nil, err
		}
		if err := vacant(ctx, tags[i], pinned[i]); err != nil {
			return nil, err
		}
	}
	for i, image := range all {
		if err := remote.WriteIndex(tags[i], image.Index, options(ctx)...); err != nil {
			return nil, fmt.Errorf("push %s: %w", tags[i], err)
		}
	}
	return pinned, nil
}

// vacant wants a tag to be free, or to be of that content already.
func vacant(ctx context.Context, tag name.Tag, want name.Digest) error {
	found, err := remote.Head(tag, options(ctx)...)
	if missing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for %s: %w", tag, err)
	}
	if got := found.Digest.String(); got != want.DigestStr() {
		return taken(tag, got, want.DigestStr())
	}
	return nil
}

func taken(tag name.Tag, got, want string) error {
	return fmt.Errorf("%s is %s, and would become %s: what a version has is never changed, so release the next one", tag, got, want)
}

func missing(err error) bool {
	var refused *transport.Error
	return errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound
}

// layer is the digest of the only layer that a tag has, if it is there.
func layer(ctx context.Context, tag name.Tag) (digest v1.Hash, found bool, err error) {
	image, err := remote.Image(tag, options(ctx)...)
	if missing(err) {
		return v1.Hash{}, false, nil
	}
	if err != nil {
		return v1.Hash{}, false, fmt.Errorf("ask for %s: %w", tag, err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		return v1.Hash{}, false, fmt.Errorf("read %s: %w", tag, err)
	}
	if len(manifest.Layers) != 1 {
		return v1.Hash{}, false, fmt.Errorf("%s has %d layers, want 1", tag, len(manifest.Layers))
	}
	return manifest.Layers[0].Digest, true, nil
}
