package main

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/hack/release/images"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// published is an image as the command line describes it.
type published struct {
	flags             image.Flags
	bundle, catalog   string
	opm, probe        string
	reference, output string
	platforms         string
}

func imageCommand() *cobra.Command {
	var p published
	cmd := &cobra.Command{
		Use: "image", Short: "Write an image for several platforms to a tar file, and print its name by digest", Args: cobra.NoArgs,
		Long: "Write an image for several platforms to a tar file, and print its name by digest.\n\n" +
			"In the name of a file of this machine, {platform} is each platform, as linux-amd64.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := made()
			if err != nil {
				return err
			}
			pinned, err := p.write(at)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), pinned)
			return err
		},
	}
	flags := cmd.Flags()
	p.flags.Add(flags)
	flags.StringVar(&p.bundle, "bundle", "", "folder of a bundle for OLM that the image has, with its labels")
	flags.StringVar(&p.catalog, "catalog", "", "folder of a catalog for OLM that the image has and serves")
	flags.StringVar(&p.opm, "opm", "", "program that serves the catalog")
	flags.StringVar(&p.probe, "probe", "", "program that asks whether the catalog is served")
	flags.StringVar(&p.reference, "name", "", "name of the image, with a tag")
	flags.StringVar(&p.platforms, "platforms", "", "what it is for, such as linux/amd64,linux/arm64")
	flags.StringVar(&p.output, "output", "", "file to write")
	require(cmd, "name", "platforms", "output")
	cmd.MarkFlagsMutuallyExclusive("bundle", "catalog")
	cmd.MarkFlagsRequiredTogether("catalog", "opm", "probe")
	return cmd
}

func (p *published) write(at time.Time) (name.Digest, error) {
	tag, err := name.NewTag(p.reference, name.StrictValidation)
	if err != nil {
		return name.Digest{}, fmt.Errorf("--name: %w", err)
	}
	platforms, err := images.Platforms(p.platforms)
	if err != nil {
		return name.Digest{}, fmt.Errorf("--platforms: %w", err)
	}
	index, err := images.Index(platforms, at, p.spec)
	if err != nil {
		return name.Digest{}, err
	}
	if err := images.Write(p.output, tag, index, at); err != nil {
		return name.Digest{}, err
	}
	return images.Pinned(tag, index)
}

// spec is the image for one platform.
func (p *published) spec(platform images.Platform) (image.Spec, error) {
	if platform.OS != "linux" {
		return image.Spec{}, fmt.Errorf("platform %s: %w", platform, errors.New("images are for Linux"))
	}
	of := strings.NewReplacer("{platform}", platform.Folder())
	spec, err := p.flags.Spec(of)
	if err != nil {
		return image.Spec{}, err
	}
	var base image.Spec
	switch {
	case p.bundle != "":
		base, err = image.Bundle(p.bundle)
	case p.catalog != "":
		base, err = image.Catalog(p.catalog, image.CatalogServer(of.Replace(p.opm), of.Replace(p.probe)))
	default:
		return spec, nil
	}
	if err != nil {
		return image.Spec{}, err
	}
	maps.Copy(base.Files, spec.Files)
	maps.Copy(base.Labels, spec.Labels)
	return base, nil
}
