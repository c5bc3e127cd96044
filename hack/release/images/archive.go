package images

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/etcdpilot/etcd-operator/hack/release/archive"
)

// What an OCI layout calls an image: by its tag, and for containerd by its whole name.
const (
	tagAnnotation  = "org.opencontainers.image.ref.name"
	nameAnnotation = "io.containerd.image.name"
)

// Write writes an image to a tar file, in the OCI layout, under its name. skopeo, crane, podman and containerd read such files.
func Write(file string, tag name.Tag, index v1.ImageIndex, made time.Time) error {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return fmt.Errorf("write %s: %w", tag, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("write %s: %w", tag, err)
	}
	names := map[string]string{tagAnnotation: tag.TagStr(), nameAnnotation: tag.Name()}
	if err := path.AppendIndex(index, layout.WithAnnotations(names)); err != nil {
		return fmt.Errorf("write %s: %w", tag, err)
	}
	entries, err := archive.Folder(dir, "")
	if err != nil {
		return fmt.Errorf("write %s: %w", tag, err)
	}
	for i := range entries {
		entries[i].Executable = false
	}
	return archive.Write(file, entries, made)
}

// Named is an image under its name.
type Named struct {
	Tag   name.Tag
	Index v1.ImageIndex
	// folder that the layers are read from.
	folder string
}

// Close removes what Read has unpacked.
func (n Named) Close() error { return os.RemoveAll(n.folder) }

// Read reads what Write has written. The image can be used until it is closed.
func Read(file string) (named Named, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read the image in %s: %w", file, err), named.Close())
		}
	}()
	if named.folder, err = os.MkdirTemp("", "image-"); err != nil {
		return named, err
	}
	if err := archive.Unpack(file, named.folder); err != nil {
		return named, err
	}
	found, err := described(filepath.Join(named.folder, "index.json"))
	if err != nil {
		return named, err
	}
	if named.Tag, err = name.NewTag(found.Annotations[nameAnnotation]); err != nil {
		return named, err
	}
	all, err := layout.ImageIndexFromPath(named.folder)
	if err != nil {
		return named, err
	}
	named.Index, err = all.ImageIndex(found.Digest)
	return named, err
}

// described is the only image that an OCI layout has.
func described(file string) (v1.Descriptor, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return v1.Descriptor{}, err
	}
	var manifest v1.IndexManifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return v1.Descriptor{}, err
	}
	if len(manifest.Manifests) != 1 {
		return v1.Descriptor{}, fmt.Errorf("it has %d, want 1", len(manifest.Manifests))
	}
	return manifest.Manifests[0], nil
}
