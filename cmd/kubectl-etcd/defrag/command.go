package defrag

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

// defaultTimeout is several times what a database of 8 GiB takes on a slow disk.
const defaultTimeout = 10 * time.Minute

// Command is the command.
func Command(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	j := &job{out: streams.Out}
	var secret string
	cmd := &cobra.Command{
		Use:   "defrag NAME MEMBER|--all",
		Short: "Give the free pages of databases back, one member at a time",
		Long: `Have members write their databases anew, without the free pages. A member serves nobody meanwhile, so it is done
by one member at a time, only while all other voters are healthy and in sync, and by the leader last, after it
has handed leadership over. The first problem ends it.`,
		Example: `  # All members
  kubectl etcd defrag example --all

  # One of them
  kubectl etcd defrag example example-2`,
		Args: members.Args(1, 2, "the name of an EtcdCluster, and that of a member or --all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := j.who(args[1:]); err != nil {
				return err
			}
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			access.Secret = secret
			if err := j.open(cmd.Context(), access, args[0]); err != nil {
				return err
			}
			defer j.cluster.Close()
			return j.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&j.all, "all", false, "all members, one after the other")
	cmd.Flags().BoolVar(&j.force, "force", false, "accept that requests wait, where the others cannot do without the member")
	cmd.Flags().DurationVar(&j.timeout, "timeout", defaultTimeout, "how long one member may take")
	members.AddSecretFlag(cmd, &secret)
	members.AddDryRunFlag(cmd, &j.dry)
	return cmd
}

// who takes in whom to defragment: the member that is named behind the cluster, or all.
func (j *job) who(named []string) error {
	switch {
	case len(named) > 0 && j.all:
		return errors.New("give the name of a member or --all, not both")
	case len(named) == 0 && !j.all:
		return errors.New("say which member: its name, or --all")
	case len(named) > 0:
		j.member = named[0]
	}
	return nil
}

// open opens tunnels to the members of a cluster.
func (j *job) open(ctx context.Context, access *reach.Access, cluster string) (err error) {
	j.cluster, _, err = members.OpenNamed(ctx, access, cluster)
	j.object = func(ctx context.Context) (*v1beta2.EtcdCluster, error) {
		object := &v1beta2.EtcdCluster{}
		return object, access.Get(ctx, cluster, object)
	}
	return err
}
