package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/diagnose"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

func diagnoseCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "diagnose NAME",
		Short: "Pack what is known of a cluster into a file, without secrets",
		Long: `Pack the EtcdCluster, its backups and restores, pods, volumes, Services, budgets and events, what its
members say, their metrics and logs, and the operator's log, for somebody else to look at. It changes
nothing. No Secret is packed, and values that people have given are left out. With TLS, the Secret NAME-client
is read to talk to the members.`,
		Example: `  kubectl etcd diagnose example
  kubectl etcd diagnose example -o example.tgz`,
		Args:              exactlyOne("the name of an EtcdCluster"),
		ValidArgsFunction: clusterNames(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFile(output); err != nil {
				return err
			}
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			now := time.Now()
			folder := fmt.Sprintf("%s-%s", args[0], now.UTC().Format("20060102T150405Z"))
			if output == "" {
				output = folder + ".tgz"
			}
			return pack(cmd.Context(), access, args[0], folder, output, now, streams.ErrOut)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write, which must not exist; NAME-TIME.tgz by default")
	return cmd
}

// checkFile refuses what other commands know as a format.
func checkFile(output string) error {
	if output == "json" || output == "yaml" {
		return fmt.Errorf("-o is the file to write, such as example.tgz: to have one named %s, give ./%s", output, output)
	}
	return nil
}

// pack gathers everything before it makes the file, so that none is left if there is nothing to pack.
func pack(ctx context.Context, access *reach.Access, name, folder, output string, now time.Time, progress io.Writer) error {
	if _, err := os.Lstat(output); err == nil {
		return fmt.Errorf("%s exists: give another name with -o", output)
	}
	bundle := &diagnose.Bundle{Say: func(words string) { _, _ = fmt.Fprintln(progress, terminal.Clean(words)) }} // progress is no result
	cluster, err := access.Collect(ctx, name, bundle)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	about := diagnose.About(cluster.Namespace, cluster.Name, version.Operator, now)
	if err := errors.Join(bundle.Write(file, folder, about, now), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", output, err), os.Remove(output))
	}
	_, err = fmt.Fprintf(progress, "%s is written. Logs are in it as programs wrote them: look at them before you hand it on.\n", strings.TrimSpace(output))
	return err
}
