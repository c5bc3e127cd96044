package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/hack/release/archive"
	"github.com/etcdpilot/etcd-operator/hack/release/images"
	"github.com/etcdpilot/etcd-operator/hack/release/notes"
	"github.com/etcdpilot/etcd-operator/hack/release/plugin"
)

func checkCommand() *cobra.Command {
	var (
		tree            notes.Tree
		config, digests string
		rehearsal       bool
	)
	cmd := &cobra.Command{
		Use: "check", Short: "Say what keeps this tree from being released", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			never, notYet := tree.Check(cmd.Context())
			if never != nil {
				return never
			}
			notYet = errors.Join(notYet, unpinned(config, digests))
			if notYet != nil && rehearsal {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "this is a rehearsal, nothing to publish:\n%v\n", notYet)
				return nil
			}
			return notYet
		},
	}
	flags := cmd.Flags()
	treeFlags(cmd, &tree)
	flags.StringVar(&config, "config", "", "folder of the manifests")
	flags.StringVar(&digests, "digests", "", "file with the digests of etcd's images")
	flags.BoolVar(&rehearsal, "rehearsal", false, "only warn of what is done on the day of the release")
	require(cmd, "config", "digests")
	return cmd
}

func treeFlags(cmd *cobra.Command, tree *notes.Tree) {
	cmd.Flags().StringVar(&tree.Dir, "dir", "", "top of the source tree")
	cmd.Flags().StringVar(&tree.Version, "version", "", "version of the release")
	require(cmd, "dir", "version")
}

func pluginCommand() *cobra.Command {
	var (
		p                 plugin.Plugin
		platforms, output string
	)
	cmd := &cobra.Command{
		Use: "plugin", Short: "Pack kubectl's plugin, and write krew's manifest", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			at, err := made()
			if err != nil {
				return err
			}
			all, err := images.Platforms(platforms)
			if err != nil {
				return fmt.Errorf("--platforms: %w", err)
			}
			return p.Write(output, all, at)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.Programs, "programs", "", "folder that has a folder for each platform")
	flags.StringVar(&p.Version, "version", "", "version of the release")
	flags.StringVar(&p.Source, "source", "", "address of the repository")
	flags.StringArrayVar(&p.Licenses, "license", nil, "file that goes into each archive, may be repeated")
	flags.StringVar(&platforms, "platforms", "", "what the plugin is for, such as linux/amd64,darwin/arm64")
	flags.StringVar(&output, "output", "", "folder to write to")
	require(cmd, "programs", "version", "source", "platforms", "output")
	return cmd
}

func packCommand() *cobra.Command {
	var folder, output string
	cmd := &cobra.Command{
		Use: "pack", Short: "Pack what is in a folder", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			at, err := made()
			if err != nil {
				return err
			}
			entries, err := archive.Folder(folder, "")
			if err != nil {
				return fmt.Errorf("pack %s: %w", folder, err)
			}
			return archive.Write(output, entries, at)
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "folder to pack")
	cmd.Flags().StringVar(&output, "output", "", "file to write; its name says how")
	require(cmd, "folder", "output")
	return cmd
}

func notesCommand() *cobra.Command {
	var (
		tree           notes.Tree
		source, listed string
	)
	cmd := &cobra.Command{
		Use: "notes", Short: "Print the text of the release's page", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			section, err := tree.Section()
			if err != nil {
				return err
			}
			names, err := os.ReadFile(filepath.Clean(listed))
			if err != nil {
				return fmt.Errorf("read the images: %w", err)
			}
			signed, err := tree.Signed()
			if err != nil {
				return err
			}
			page := section.Page(source, tree.Version, runtime.Version(), strings.Fields(string(names)), signed)
			_, err = fmt.Fprint(cmd.OutOrStdout(), page)
			return err
		},
	}
	treeFlags(cmd, &tree)
	cmd.Flags().StringVar(&source, "source", "", "address of the repository")
	cmd.Flags().StringVar(&listed, "images", "", "file that lists the images")
	require(cmd, "source", "images")
	return cmd
}
