// Package images makes the images of a release, for several architectures, without Docker, writes each to a file that can be kept and
// mirrored, and pushes them.
package images

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"

	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// Platform is what a program is built for, in Go's words.
type Platform struct{ OS, Architecture string }

// Platforms reads a list such as linux/amd64,linux/arm64.
func Platforms(list string) ([]Platform, error) {
	var all []Platform
	for text := range strings.SplitSeq(list, ",") {
		system, architecture, found := strings.Cut(text, "/")
		if !found || system == "" || architecture == "" {
			return nil, fmt.Errorf("platform %q: want OS/ARCHITECTURE", text)
		}
		all = append(all, Platform{system, architecture})
	}
	return all, nil
}

// Folder is the platform as the name of a folder.
func (p Platform) Folder() string { return p.OS + "-" + p.Architecture }

// String is the platform as in a list.
func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// Index makes an image for platforms. The spec of each is asked for; its architecture and time are set here. Its labels are also
// annotations of the index, where registries look for them.
func Index(platforms []Platform, created time.Time, spec func(Platform) (image.Spec, error)) (v1.ImageIndex, error) {
	specs := make([]image.Spec, len(platforms))
	labels := map[string]string{}
	for i, p := range platforms {
		s, err := spec(p)
		if err != nil {
			return nil, err
		}
		s.Architecture, s.Created, s.Compressed = p.Architecture, created, true
		specs[i] = s
		maps.Copy(labels, s.Labels)
	}
	if len(specs) == 0 {
		return nil, errors.New("make an image: there is no platform")
	}
	all, err := build(specs)
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, p := range platforms {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: all[i], Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.OS, Architecture: p.Architecture}},
		})
	}
	annotated, isIndex := mutate.Annotations(index, labels).(v1.ImageIndex)
	if !isIndex {
		return nil, errors.New("make an image: annotations have made something else of its index")
	}
	return annotated, nil
}

// build makes images, one on each processor: to compress them takes most of the time.
func build(specs []image.Spec) ([]v1.Image, error) {
	all := make([]v1.Image, len(specs))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, spec := range specs {
		group.Go(func() (err error) {
			if all[i], err = image.Build(spec); err != nil {
				return fmt.Errorf("for %s: %w", spec.Architecture, err)
			}
			return nil
		})
	}
	return all, group.Wait()
}

// Pinned is the reference of an image by its digest: what a tag refers to now.
func Pinned(tag name.Tag, index v1.ImageIndex) (name.Digest, error) {
	digest, err := index.Digest()
	if err != nil {
		return name.Digest{}, fmt.Errorf("digest of %s: %w", tag, err)
	}
	return tag.Digest(digest.String()), nil
}
