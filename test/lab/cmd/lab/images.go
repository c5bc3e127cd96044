package main

import (
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
		described    image.Flags
	)
	cmd := &cobra.Command{
		Use:   "image --name NAME --file SOURCE:DESTINATION...",
		Short: "Build an image from files, and make it available to the cluster or write it to a tar file",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := described.Spec(strings.NewReplacer())
			if err != nil {
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
	described.Add(flags)
	for _, required := range []string{"name", "file"} {
		if err := cmd.MarkFlagRequired(required); err != nil {
			panic(err) // The flag is defined a few lines above.
		}
	}
	return cmd
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
