package image

import (
	"errors"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Load reads an image from this machine: a tar file as "docker save" writes, or a folder in the OCI image layout
// that holds one image.
func Load(path string) (v1.Image, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("load image: %w", err)
	}
	if !info.IsDir() {
		img, err := tarball.ImageFromPath(path, nil)
		if err != nil {
			return nil, fmt.Errorf("load image from tar file %s: %w", path, err)
		}
		return img, nil
	}
	img, err := loadLayout(path)
	if err != nil {
		return nil, fmt.Errorf("load image from layout %s: %w", path, err)
	}
	return img, nil
}

func loadLayout(path string) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(path)
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, errors.New("it must hold exactly one image")
	}
	return index.Image(manifest.Manifests[0].Digest)
}

// Save builds an image and writes it to a tar file as "docker save" does, under a reference.
func Save(spec Spec, reference, file string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return fmt.Errorf("save image: %w", err)
	}
	img, err := Build(spec)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(file, tag, img); err != nil {
		return fmt.Errorf("save image %s: %w", reference, err)
	}
	return nil
}
