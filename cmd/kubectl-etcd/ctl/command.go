package ctl

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

// Command is the command.
func Command(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var secret string
	j := &job{streams: streams}
	cmd := &cobra.Command{
		Use:   "ctl NAME -- ARGUMENTS...",
		Short: "Run etcdctl against a cluster",
		Long: `Run etcdctl, which has to be in PATH, against the members of a cluster. With TLS it connects with the certificate
in the Secret NAME-client, and with etcd's authentication it has the rights of that user. With certificates of your
own (spec.tls.static), those of the servers have to be for the IP address 127.0.0.1, too: etcdctl connects to that.

The members are the operator's: what etcdctl does to them, the operator may undo.`,
		Example: `  # All keys below a prefix
  kubectl etcd ctl example -- get --prefix --keys-only /registry/

  # Once there is room again after the alarm NOSPACE
  kubectl etcd ctl example -- alarm disarm`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New(`give the name of an EtcdCluster, and behind -- what etcdctl is to do, as in: kubectl etcd ctl example -- get key`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if j.program, err = exec.LookPath(program); err != nil {
				return fmt.Errorf("etcdctl is not in PATH: install it, in the version of the cluster (https://github.com/etcd-io/etcd/releases)")
			}
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			access.Secret, j.args = secret, args[1:]
			return j.connected(cmd.Context(), access, args[0])
		},
	}
	members.AddSecretFlag(cmd, &secret)
	members.AddDryRunFlag(cmd, &j.dry)
	return cmd
}

// connected runs etcdctl while tunnels to the members of a cluster are open.
func (j *job) connected(ctx context.Context, access *reach.Access, cluster string) error {
	seen, err := access.Cluster(ctx, cluster)
	if err != nil {
		return err
	}
	if j.credentials, err = access.Credentials(ctx, seen); err != nil {
		return err
	}
	links, err := access.Connect(ctx, seen)
	if err != nil {
		return err
	}
	defer links.Close()
	for pod, why := range links.Unreached {
		output.Warn(j.streams.ErrOut, "%s: %s", pod, why)
	}
	j.endpoints = links.Endpoints
	return j.run(ctx)
}
