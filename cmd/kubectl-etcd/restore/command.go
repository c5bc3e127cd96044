package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/follow"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

// options are what it is told.
type options struct {
	from, before, identity string
	yes, wait, dry         bool
}

// Command is the command.
func Command(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "restore NAME --from BACKUP|SNAPSHOT",
		Short: "Replace all data of a cluster by a snapshot's",
		Long: `Create an EtcdRestore, which replaces all data of a cluster by those of a snapshot. It has to be confirmed by typing
the name of the cluster, or with --yes. Until the new members are up, it is called off by deleting the EtcdRestore.`,
		Example: `  # The latest snapshot
  kubectl etcd restore example --from nightly --wait

  # A certain one, of those that backup list shows
  kubectl etcd restore example --from nightly/00000000000000081223_20261124T060000Z_ab12cd34.db.zst

  # As it was at noon
  kubectl etcd restore example --from nightly --before 2026-11-24T12:00:00Z`,
		Args: members.Args(1, 1, "the name of an EtcdCluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.from == "" {
				return errors.New("say with --from which EtcdBackup or snapshot to restore: kubectl etcd backup list shows them")
			}
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			return run(cmd.Context(), access, streams, args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.from, "from", "", "an EtcdBackup, EtcdBackup/snapshot, or a snapshot that the status of one names")
	cmd.Flags().StringVar(&o.before, "before", "", "the latest snapshot from before that time (RFC 3339)")
	cmd.Flags().StringVar(&o.identity, "identity", "", "the Secret with an identity, where backups are encrypted to recipients")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until the cluster runs on the restored data")
	members.AddDryRunFlag(cmd, &o.dry)
	return cmd
}

func run(ctx context.Context, access *reach.Access, streams genericiooptions.IOStreams, cluster string, o options) error {
	before, err := timeOf(o.before)
	if err != nil {
		return err
	}
	seen, err := access.Cluster(ctx, cluster)
	if err != nil {
		return err
	}
	backups, err := access.Backups(ctx, "")
	if err != nil {
		return err
	}
	chosen, err := choose(o.from, backups)
	if err != nil {
		return err
	}
	does, remarks := chosen.words(seen.Object, before, o.identity, time.Now())
	output.Say(streams.Out, "At %s: %s", access.Server(), does)
	for _, remark := range remarks {
		output.Warn(streams.Out, "%s", remark)
	}
	down := access.OperatorDown(ctx, seen.Object.Status.Operator)
	if down != "" {
		output.Warn(streams.Out, "%s: nothing is restored until it is back.", down)
	}
	made, err := create(ctx, access, streams, seen.Object, chosen.source(o.identity, before), o)
	switch {
	case err != nil, o.dry:
		return err
	case o.wait:
		return await(ctx, access, streams, made, seen.Object.Status.Operator)
	case down != "":
		return errors.New("the data are not restored yet")
	default:
		return nil
	}
}

// create makes an EtcdRestore once a person has confirmed it, and returns its name.
func create(ctx context.Context, access *reach.Access, streams genericiooptions.IOStreams, cluster *v1beta2.EtcdCluster, from v1beta2.RestoreSource, o options) (string, error) {
	if !o.yes && !o.dry {
		if err := output.Confirm(streams, cluster.Namespace+"/"+cluster.Name); err != nil {
			return "", err
		}
	}
	made := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{GenerateName: reach.GenerateName(cluster.Name, "restore")},
		Spec:       v1beta2.EtcdRestoreSpec{EtcdCluster: v1beta2.EtcdClusterRef{Name: cluster.Name}, RestoreSource: from},
	}
	if err := access.Create(ctx, made, o.dry); err != nil {
		return "", fmt.Errorf("create an EtcdRestore: %w", err)
	}
	if o.dry {
		output.DryRun(streams.Out)
		return made.Name, nil
	}
	output.Say(streams.Out, "Created EtcdRestore %s: %s", made.Name, callOff(cluster))
	return made.Name, nil
}

// callOff says how to go back. Members that keep their data on an emptyDir may have none any more.
func callOff(c *v1beta2.EtcdCluster) string {
	if c.Status.Storage == v1beta2.MemberStorageEmptyDir {
		return "until the members stop, delete it to call this off; once they have, it may go on all the same."
	}
	return "delete it to call this off, until the new members are up."
}

// await waits until it is over.
func await(ctx context.Context, access *reach.Access, streams genericiooptions.IOStreams, name string, operator *v1beta2.OperatorReference) error {
	var last follow.Step
	err := follow.Usual().Until(ctx, streams.Out, "EtcdRestore "+name,
		func(ctx context.Context) string { return access.OperatorDown(ctx, operator) },
		func(ctx context.Context) (follow.Step, error) {
			r := &v1beta2.EtcdRestore{}
			err := access.Get(ctx, name, r)
			last = step(r)
			return last, err
		})
	if err == nil {
		output.Say(streams.Out, "%s: %s", last.Reason, last.Message)
	}
	return err
}

// timeOf reads a time; nil if there is none.
func timeOf(text string) (*metav1.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, fmt.Errorf("--before %s is no time such as 2026-11-24T12:00:00Z", text)
	}
	return &metav1.Time{Time: at}, nil
}
