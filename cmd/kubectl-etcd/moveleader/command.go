package moveleader

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
)

// Command is the command.
func Command(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "move-leader NAME [MEMBER]",
		Short: "Hand leadership over to another voter",
		Long: `Hand leadership over to the named voter, which has to be healthy and in sync, or to the one that is the
furthest in applying the log.`,
		Example: `  # Before the leader's node is drained
  kubectl etcd move-leader example

  # To a member of your choice
  kubectl etcd move-leader example example-2`,
		Args: members.Args(1, 2, "the name of an EtcdCluster, and that of a member if you choose one"),
	}
	return members.Acting(cmd, flags, func(cmd *cobra.Command, c *members.Cluster, args []string, dry bool) error {
		to := ""
		if len(args) > 1 {
			to = args[1]
		}
		return move(cmd.Context(), streams.Out, c, to, dry)
	})
}
