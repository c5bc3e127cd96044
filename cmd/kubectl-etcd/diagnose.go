package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/diagnose"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

func diagnoseCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "diagnose NAME",
		Short: "Pack what is known of a cluster into a file, without secrets",
		Long: `Pack the EtcdCluster, its backups and restores, pods, volumes, Services, budgets and events, what its
members say, their metrics and logs, and the operator's log, for somebody else to look at. It changes
nothing. No Secret is packed, and values that people have given are left out. With TLS, the Secret NAME-client
is read to talk to the members.`,
		Example: `  kubectl etcd diagnose example
  kubectl etcd diagnose example -o example.tgz`,
		Args:              members.Args(1, 1, "the name of an EtcdCluster"),
		ValidArgsFunction: clusterNames(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFile(file); err != nil {
				return err
			}
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			now := time.Now()
			folder := fmt.Sprintf("%s-%s", args[0], now.UTC().Format("20060102T150405Z"))
			if file == "" {
				file = folder + ".tgz"
			}
			return pack(cmd.Context(), access, args[0], folder, file, now, streams.ErrOut)
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "the file to write, which must not exist; NAME-TIME.tgz by default")
	return cmd
}

// checkFile refuses what other commands know as a format.
func checkFile(name string) error {
	if name == "json" || name == "yaml" {
		return fmt.Errorf("-o is the file to write, such as example.tgz: to have one named %s, give ./%s", name, name)
	}
	return nil
}

// pack gathers everything before it makes the file, so that none is left if there is nothing to pack.
func pack(ctx context.Context, access *reach.Access, name, folder, path string, now time.Time, progress io.Writer) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists: give another name with -o", path)
	}
	bundle := &diagnose.Bundle{Say: func(words string) { output.Say(progress, "%s", words) }}
	cluster, err := access.Collect(ctx, name, bundle)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	about := diagnose.About(cluster.Namespace, cluster.Name, version.Operator, now)
	if err := errors.Join(bundle.Write(file, folder, about, now), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	output.Say(progress, "%s is written. Logs are in it as programs wrote them: look at them before you hand it on.", path)
	return nil
}
