// Package moveleader is "kubectl etcd move-leader".
package moveleader

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
)

// move hands leadership over to the member of that name, or to the best one if it is empty.
func move(ctx context.Context, out io.Writer, c *members.Cluster, to string, dry bool) error {
	view, err := c.Look(ctx)
	if err != nil {
		return err
	}
	heir, err := choose(view, to)
	if err != nil {
		return err
	}
	if heir.Name == view.Leader {
		output.Say(out, "%s leads already.", heir.Name)
		return nil
	}
	output.Say(out, "%s leads. Handing leadership over to %s: requests wait for a moment.", view.Leader, heir.Name)
	if dry {
		output.DryRun(out)
		return nil
	}
	start := time.Now()
	if err := c.MoveLeader(ctx, heir.Name); err != nil {
		return err
	}
	output.Say(out, "%s leads, after %s.", heir.Name, time.Since(start).Round(time.Millisecond))
	return nil
}

// choose is who is to lead.
func choose(v members.View, to string) (members.Member, error) {
	if v.Leader == "" {
		return members.Member{}, fmt.Errorf("nobody leads at the moment: the voters are electing one of them; try again")
	}
	if to == "" {
		return v.Heir()
	}
	heir, err := v.Member(to)
	switch {
	case err != nil:
		return members.Member{}, err
	case heir.Learner:
		return members.Member{}, fmt.Errorf("%s is a learner: only a voter can lead", to)
	case !heir.Healthy:
		return members.Member{}, fmt.Errorf("%s is not to lead: %s", to, heir.Problem)
	}
	return heir, nil
}
