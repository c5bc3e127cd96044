package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

func addonCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "addon NAME...",
		Short: "Start object storage beside the cluster, or heal it: minio, gcs, azurite",
		Long: `Start object storage beside the cluster, or undo what was done to it.

NAME is minio (S3, with TLS), gcs (Google Cloud Storage) or azurite (Azure blobs). For each one
it prints where pods reach it, its bucket, and the environment that clients need: as a file that
"kubectl create secret generic --from-env-file" takes.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			for _, name := range args {
				addon, err := running.StartAddon(cmd.Context(), name, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if err := printAddon(cmd.OutOrStdout(), addon); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func printAddon(out io.Writer, addon lab.Addon) error {
	text := fmt.Sprintf("# %s: %s, bucket %s\n", addon.Name, addon.URL, addon.Bucket)
	if addon.CAFile != "" {
		text += "# its certificate authority: " + addon.CAFile + "\n"
	}
	for _, name := range slices.Sorted(maps.Keys(addon.Env)) {
		text += name + "=" + addon.Env[name] + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

func cutAddonCommand() *cobra.Command {
	const kibibyte = 1 << 10
	var kibibytes int64
	cmd := single("cut-addon NAME", "Reset all connections to an addon",
		func(l *lab.Lab, ctx context.Context, name string) error {
			return l.CutAddon(ctx, name, kibibytes*kibibyte)
		})
	cmd.Flags().Int64Var(&kibibytes, "after-kib", 0, "how much is let through to it before, in KiB")
	return cmd
}
