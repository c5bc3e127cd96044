package etcdimages

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Ask adds what tags refer to now, for all architectures: in the registry that they name, or in another one that has the same repositories.
func (d Digests) Ask(ctx context.Context, tags []string, registry string) error {
	for _, tag := range tags {
		at := tag
		if registry != "" {
			_, path, _ := strings.Cut(tag, "/")
			at = registry + "/" + path
		}
		reference, err := name.NewTag(at)
		if err != nil {
			return fmt.Errorf("ask for the digest of %s: %w", tag, err)
		}
		found, err := remote.Head(reference, remote.WithContext(ctx))
		if err != nil {
			return fmt.Errorf("ask for the digest of %s: %w", at, err)
		}
		d[tag] = found.Digest.String()
	}
	return nil
}
