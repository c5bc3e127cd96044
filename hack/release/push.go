package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/hack/release/images"
	"github.com/etcdpilot/etcd-operator/hack/release/push"
	"github.com/etcdpilot/etcd-operator/hack/release/sums"
)

// chartName is the name of the Helm chart.
const chartName = "etcd-operator"

// pushed is a release that is put into a registry.
type pushed struct{ dir, version, registry, helm, latest string }

func pushCommand() *cobra.Command {
	var p pushed
	cmd := &cobra.Command{
		Use: "push", Short: "Push the images and the chart, and print their names by digest", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := sums.Verify(p.dir); err != nil {
				return err
			}
			names, err := p.push(cmd)
			for _, pinned := range names {
				_, _ = fmt.Fprintln(cmd.OutOrStdout(), pinned)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.dir, "release", "", "folder of the release")
	flags.StringVar(&p.version, "version", "", "version of the release")
	flags.StringVar(&p.registry, "registry", "", "where to push, such as ghcr.io/etcdpilot")
	flags.StringVar(&p.helm, "helm", "", "path of Helm")
	flags.StringVar(&p.latest, "latest", "", "image that is to have the tag latest, too, if its version is the highest")
	require(cmd, "release", "version", "registry", "helm")
	return cmd
}

func (p pushed) push(cmd *cobra.Command) (names []name.Digest, err error) {
	all, err := p.read()
	defer func() { err = errors.Join(err, closeAll(all)) }()
	if err != nil {
		return nil, err
	}
	registry := push.Registry(p.registry)
	file := filepath.Join(p.dir, chartName+"-"+p.version+".tgz")
	// Images looks at all tags of images before it pushes one, and has to know of the chart's by then.
	if err := registry.ChartVacant(cmd.Context(), file, chartName, p.version); err != nil {
		return nil, err
	}
	if names, err = registry.Images(cmd.Context(), all); err != nil {
		return nil, err
	}
	pinned, err := registry.Chart(cmd.Context(), p.helm, file, chartName, p.version)
	if err != nil {
		return names, err
	}
	names = append(names, pinned)
	if p.latest == "" {
		return names, nil
	}
	kept, err := p.move(cmd, all)
	if kept != "" {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s:latest stays as it is: %s\n", p.latest, kept)
	}
	return names, err
}

func latestCommand() *cobra.Command {
	var p pushed
	cmd := &cobra.Command{
		Use: "latest", Short: "Have the tag latest of an image refer to that of this release, which was pushed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := sums.Verify(p.dir); err != nil {
				return err
			}
			all, err := p.read()
			defer func() { err = errors.Join(err, closeAll(all)) }()
			if err != nil {
				return err
			}
			kept, err := p.move(cmd, all)
			if kept != "" {
				return fmt.Errorf("%s:latest stays as it is: %s", p.latest, kept)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.dir, "release", "", "folder of the release")
	flags.StringVar(&p.registry, "registry", "", "where it was pushed, such as ghcr.io/etcdpilot")
	flags.StringVar(&p.latest, "image", "", "image whose tag latest is to move")
	require(cmd, "release", "registry", "image")
	return cmd
}

// move has the tag latest of the image that it is for refer to that of the release, or says why it stays.
func (p pushed) move(cmd *cobra.Command, all []images.Named) (kept string, err error) {
	for _, image := range all {
		if path.Base(image.Tag.RepositoryStr()) == p.latest {
			return push.Registry(p.registry).Latest(cmd.Context(), image)
		}
	}
	return "", fmt.Errorf("the release has no image %s, whose tag latest is to move", p.latest)
}

func closeAll(all []images.Named) (err error) {
	for _, image := range all {
		err = errors.Join(err, image.Close())
	}
	return err
}

// read reads the images of the release, in the order in which they refer to each other, and compares them with what is listed.
func (p pushed) read() (all []images.Named, err error) {
	listed, err := os.ReadFile(filepath.Join(p.dir, "images.txt"))
	if err != nil {
		return nil, fmt.Errorf("read the images: %w", err)
	}
	for reference := range strings.FieldsSeq(string(listed)) {
		want, err := name.NewDigest(reference)
		if err != nil {
			return all, fmt.Errorf("read the images: %w", err)
		}
		file := filepath.Join(p.dir, path.Base(want.Context().RepositoryStr())+"-image.tar")
		image, err := images.Read(file)
		if err != nil {
			return all, err
		}
		all = append(all, image)
		got, err := images.Pinned(image.Tag, image.Index)
		if err != nil {
			return all, err
		}
		if got.DigestStr() != want.DigestStr() {
			return all, fmt.Errorf("%s has %s, and the release's list has %s", file, got, want)
		}
	}
	return all, nil
}
