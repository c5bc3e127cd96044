package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

func addonCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "addon NAME...",
		Short: "Start object storage beside the cluster: minio, gcs, azurite; put OLM into it: olm; enforce NetworkPolicies: network-policies; issue certificates: cert-manager; or collect metrics: prometheus",
		Long: `Start object storage beside the cluster, or undo what was done to it; or put OLM, cert-manager or Prometheus into the cluster.

NAME is minio (S3, with TLS), gcs (Google Cloud Storage) or azurite (Azure blobs). For each one
it prints where pods reach it, its bucket, and the environment that clients need: as a file that
"kubectl create secret generic --from-env-file" takes.

NAME may also be olm, the Operator Lifecycle Manager. For this it prints the environment in which
operator-sdk finds all images in the lab's registry.

NAME may also be network-policies: from then on, until down, the nodes enforce NetworkPolicies.

NAME may also be cert-manager: its CRDs, its own controllers for issuers of the types CA and SelfSigned,
and a ClusterIssuer "selfsigned".

NAME may also be prometheus: the Prometheus Operator, and a Prometheus that heeds the ServiceMonitors,
PodMonitors and PrometheusRules of all namespaces. It prints how to ask that.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := startAddon(cmd, running, name); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func startAddon(cmd *cobra.Command, running *lab.Lab, name string) error {
	if name == "olm" {
		manager, err := running.OLM().Start(cmd.Context(), cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return printOLM(cmd.OutOrStdout(), manager)
	}
	if name == "network-policies" {
		return running.NetworkPolicies().Start(cmd.Context(), cmd.ErrOrStderr())
	}
	if name == "cert-manager" {
		return running.CertManager().Start(cmd.Context(), cmd.ErrOrStderr())
	}
	if name == "prometheus" {
		if err := running.Prometheus().Start(cmd.Context(), cmd.ErrOrStderr()); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "kubectl get --raw '%s/api/v1/query?query=up'\n", lab.PrometheusProxy)
		return err
	}
	addon, err := running.Addons().Start(cmd.Context(), name, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	return printAddon(cmd.OutOrStdout(), addon)
}

func printAddon(out io.Writer, addon lab.Addon) error {
	text := fmt.Sprintf("# %s: %s, bucket %s\n", addon.Name, addon.URL, addon.Bucket)
	if addon.CAFile != "" {
		text += "# its certificate authority: " + addon.CAFile + "\n"
	}
	_, err := io.WriteString(out, text+environment(addon.Env))
	return err
}

// environment lists variables, one a line.
func environment(variables map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		text.WriteString(name + "=" + variables[name] + "\n")
	}
	return text.String()
}

func cutAddonCommand() *cobra.Command {
	const kibibyte = 1 << 10
	var kibibytes int64
	cmd := single("cut-addon NAME", "Reset all connections to an addon",
		(*lab.Lab).Addons, func(addons lab.Addons, ctx context.Context, name string) error {
			return addons.Cut(ctx, name, kibibytes*kibibyte)
		})
	cmd.Flags().Int64Var(&kibibytes, "after-kib", 0, "how much is let through to it before, in KiB")
	return cmd
}
