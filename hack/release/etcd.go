package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/hack/release/etcdimages"
)

func pinCommand() *cobra.Command {
	var config, file string
	cmd := &cobra.Command{
		Use: "pin", Short: "Have manifests name etcd's images by digest", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			digests, err := etcdimages.Read(file)
			if err != nil {
				return err
			}
			if err := digests.Pin(config); err != nil {
				return fmt.Errorf("%s: %w: make etcd-digests writes it", file, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "folder of the manifests, which are changed")
	cmd.Flags().StringVar(&file, "digests", "", "file with the digests")
	require(cmd, "config", "digests")
	return cmd
}

func digestsCommand() *cobra.Command {
	var (
		config, file, registry string
		rehearsal              bool
	)
	cmd := &cobra.Command{
		Use: "digests", Short: "Write the digests of etcd's images that manifests name into a file, which keeps those of others", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			digests, err := etcdimages.Read(file)
			if errors.Is(err, os.ErrNotExist) {
				digests, err = etcdimages.Digests{}, nil
			}
			if err != nil {
				return err
			}
			named, err := etcdimages.Named(config)
			if err != nil {
				return err
			}
			if err := digests.Ask(cmd.Context(), named, registry, rehearsal); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			return digests.Write(file)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "folder of the manifests")
	cmd.Flags().StringVar(&file, "digests", "", "file to write")
	cmd.Flags().StringVar(&registry, "registry", "", "registry to ask in the place of the one that images name")
	cmd.Flags().BoolVar(&rehearsal, "rehearsal", false, "take images of one architecture, too")
	require(cmd, "config", "digests")
	return cmd
}

// unpinned says what a release lacks of etcd's digests.
func unpinned(config, file string) error {
	digests, err := etcdimages.Read(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lacking, err := digests.Lacking(config)
	if err != nil || len(lacking) == 0 {
		return err
	}
	return fmt.Errorf("%s has no digest of %s: make etcd-digests, and commit what it writes", file, strings.Join(lacking, ", "))
}
