// Package promote is "kubectl etcd promote".
package promote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
)

// settle is how long it may take until all know of the new voter.
const settle = 10 * time.Second

// Command is the command.
func Command(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "promote NAME MEMBER",
		Short: "Make a learner a voter",
		Long: `Make a learner, which receives the data and does not vote, a voter. It has to be in sync with the leader, and all
voters have to be healthy. The operator does that by itself, unless it does not run or the cluster is paused.`,
		Example: `  kubectl etcd promote example example-3`,
		Args:    members.Args(2, 2, "the name of an EtcdCluster and that of a member"),
	}
	return members.Acting(cmd, flags, func(cmd *cobra.Command, c *members.Cluster, args []string, dry bool) error {
		return run(cmd.Context(), streams.Out, c, args[1], dry)
	})
}

func run(ctx context.Context, out io.Writer, c *members.Cluster, name string, dry bool) error {
	view, err := c.Look(ctx)
	if err != nil {
		return err
	}
	if err := allowed(view, name); err != nil {
		return err
	}
	output.Say(out, "Making %s a voter, beside %d others.", name, len(view.Voters()))
	output.Warn(out, "Until the operator works on the cluster again, no PodDisruptionBudget counts it: drain no node.")
	if dry {
		output.DryRun(out)
		return nil
	}
	if err := c.Promote(ctx, name); errors.Is(err, etcd.ErrNotYet) {
		return fmt.Errorf("%w. Try again: a learner has to have almost all of the leader's log", err)
	} else if err != nil {
		return err
	}
	err = c.Await(ctx, settle, name+" is a voter, and is waited for", func(v members.View) bool {
		m, err := v.Member(name)
		return err == nil && !m.Learner
	})
	if err == nil {
		output.Say(out, "%s is a voter.", name)
	}
	return err
}

// allowed says why a member cannot be promoted now; nil if it can. One voter more may need one more to agree: until the operator has
// recorded the new one, it relies on the word of the others.
func allowed(v members.View, name string) error {
	m, err := v.Member(name)
	switch {
	case err != nil:
		return err
	case !m.Learner:
		return fmt.Errorf("%s is a voter already", name)
	case !m.Healthy:
		return fmt.Errorf("%s cannot vote yet: %s", name, m.Problem)
	}
	var ill []string
	for _, other := range v.Voters() {
		if !other.Healthy {
			ill = append(ill, fmt.Sprintf("%s (%s)", other.Name, other.Problem))
		}
	}
	if len(ill) > 0 {
		return fmt.Errorf("not all voters are healthy: %s; wait until they are", strings.Join(ill, "; "))
	}
	return nil
}
