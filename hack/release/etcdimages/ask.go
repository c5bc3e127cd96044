package etcdimages

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Ask adds what tags refer to now, for all architectures: in the registry that they name, or in another one that has the same repositories. A
// tag that refers to something else than it did is refused, and so is an image of one architecture, unless this is a rehearsal: nodes of
// others could not run it.
func (d Digests) Ask(ctx context.Context, tags []string, registry string, rehearsal bool) error {
	asked := Digests{}
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
		if !found.MediaType.IsIndex() && !rehearsal {
			return fmt.Errorf("%s is an image of one architecture (%s), want an index of those of all", at, found.MediaType)
		}
		asked[tag] = found.Digest.String()
		if before, has := d[tag]; has && before != asked[tag] {
			return fmt.Errorf("%s was %s, and is %s now: find out why, and if that is right, remove its line first", at, before, asked[tag])
		}
	}
	maps.Copy(d, asked)
	return nil
}
