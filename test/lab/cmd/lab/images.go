package main

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/registry"
)

func loadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "load NAME PATH",
		Short: "Make an image available to the cluster: a tar file, or a folder in the OCI image layout",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return running.Load(cmd.Context(), args[0], args[1])
		},
	}
}

func imageCommand() *cobra.Command {
	var (
		name, output string
		files        []string
		spec         image.Spec
	)
	cmd := &cobra.Command{
		Use:   "image --name NAME --file SOURCE:DESTINATION...",
		Short: "Build an image from files, and make it available to the cluster or write it to a tar file",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if spec.Files, err = parseFiles(files); err != nil {
				return err
			}
			if output != "" {
				return image.Save(spec, name, output)
			}
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return running.LoadSpec(cmd.Context(), name, spec)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "reference that the image gets")
	flags.StringVar(&output, "output", "", "tar file to write instead of loading the image")
	flags.StringArrayVar(&files, "file", nil, "SOURCE:DESTINATION of a file or folder, may be repeated")
	flags.StringVar(&spec.User, "user", "", "user that the entry point runs as")
	flags.StringArrayVar(&spec.Entrypoint, "entrypoint", nil, "entry point; repeat it for each word")
	flags.StringArrayVar(&spec.Cmd, "cmd", nil, "argument that a container may replace, may be repeated")
	flags.StringArrayVar(&spec.Env, "env", nil, "NAME=value, may be repeated")
	flags.StringToStringVar(&spec.Labels, "label", nil, "NAME=value, may be repeated")
	for _, required := range []string{"name", "file"} {
		if err := cmd.MarkFlagRequired(required); err != nil {
			panic(err) // The flag is defined a few lines above.
		}
	}
	return cmd
}

func parseFiles(pairs []string) (map[string]image.File, error) {
	files := map[string]image.File{}
	for _, pair := range pairs {
		source, destination, found := strings.Cut(pair, ":")
		if !found || source == "" || !strings.HasPrefix(destination, "/") {
			return nil, fmt.Errorf("--file %q: %w", pair, errors.New("want SOURCE:/DESTINATION"))
		}
		below, err := image.Folder(source, destination)
		if err != nil {
			return nil, err
		}
		maps.Copy(files, below)
	}
	return files, nil
}

// registryCommand is what up starts as a process of its own.
func registryCommand() *cobra.Command {
	var (
		listen, broken string
		options        registry.Options
	)
	cmd := &cobra.Command{
		Use:    "registry",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Broken, options.Out = registry.Broken(broken), cmd.ErrOrStderr()
			return registry.Serve(cmd.Context(), listen, options)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", registry.Address, "address to listen on")
	cmd.Flags().StringVar(&options.Dir, "dir", "", "folder for layers")
	cmd.Flags().StringVar(&options.PKI, "pki", "", "folder of the authority that vouches for all registries")
	cmd.Flags().StringVar(&broken, "broken", "", "folder that lists images to deny")
	return cmd
}
