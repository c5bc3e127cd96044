package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/follow"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// nowOptions are what "backup now" is told.
type nowOptions struct {
	from      string
	wait, dry bool
}

func nowCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o nowOptions
	cmd := &cobra.Command{
		Use:   "now NAME",
		Short: "Have the operator take a backup now",
		Long: `Create an EtcdBackup that is taken once, with the storage, the credentials, the encryption and the verification of
one that the cluster has. It is no part of that one's schedule, nor of what that one keeps.`,
		Example: `  # Before an upgrade
  kubectl etcd backup now example --wait

  # Where there are several EtcdBackups
  kubectl etcd backup now example --from nightly`,
		Args: members.Args(1, 1, "the name of an EtcdCluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			return take(cmd.Context(), access, streams, args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.from, "from", "", "the EtcdBackup whose storage and credentials are used, if there are several")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until it is taken and verified")
	members.AddDryRunFlag(cmd, &o.dry)
	return cmd
}

func take(ctx context.Context, access *reach.Access, streams genericiooptions.IOStreams, cluster string, o nowOptions) error {
	seen, err := access.Cluster(ctx, cluster)
	if err != nil {
		return err
	}
	if seen.Backups == nil {
		return errors.New(seen.Problems[len(seen.Problems)-1])
	}
	source, err := choose(cluster, seen.Backups, o.from)
	if err != nil {
		return err
	}
	output.Say(streams.Out, "Backing up %s to %s, as EtcdBackup %s does.", cluster, source.Spec.Storage.URL, source.Name)
	made := like(source)
	if err := access.Create(ctx, made, o.dry); err != nil {
		return fmt.Errorf("create an EtcdBackup: %w", err)
	}
	if o.dry {
		output.DryRun(streams.Out)
		return nil
	}
	output.Say(streams.Out, "Created EtcdBackup %s.", made.Name)
	down := access.OperatorDown(ctx, seen.Object.Status.Operator)
	if down != "" {
		output.Warn(streams.ErrOut, "%s: nothing acts on the EtcdBackup until it is back.", down)
	}
	switch {
	case o.wait:
		return await(ctx, access, streams, made, seen.Object.Status.Operator)
	case down != "":
		return errors.New("the backup is not taken yet")
	default:
		return nil
	}
}

// await waits until the backup is taken, or given up.
func await(ctx context.Context, access *reach.Access, streams genericiooptions.IOStreams, made *v1beta2.EtcdBackup,
	operator *v1beta2.OperatorReference,
) error {
	now := &v1beta2.EtcdBackup{}
	err := follow.Usual().Until(ctx, streams.Out, "EtcdBackup "+made.Name,
		func(ctx context.Context) string { return access.OperatorDown(ctx, operator) },
		func(ctx context.Context) (follow.Step, error) {
			now = &v1beta2.EtcdBackup{}
			err := access.Get(ctx, made.Name, now)
			return step(now), err
		})
	if err != nil {
		return err
	}
	for _, s := range now.Status.Snapshots[:min(1, len(now.Status.Snapshots))] {
		output.Say(streams.Out, "Taken: %s, revision %d of etcd %s, %s, %s.", s.Name, s.Revision, s.EtcdVersion,
			terminal.Size(s.StoredSizeBytes), checked(string(s.Verification), s.Stale))
	}
	return nil
}
