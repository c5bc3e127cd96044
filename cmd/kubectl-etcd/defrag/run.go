package defrag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// settle is how long a member may take to be in sync again after it was busy.
const settle = 2 * time.Minute

// job is what is to be done.
type job struct {
	cluster *members.Cluster
	// object reads the EtcdCluster.
	object func(context.Context) (*v1beta2.EtcdCluster, error)
	out    io.Writer
	// member is whom to defragment, unless all are.
	member string
	all    bool
	// force is whether a pause is accepted, dry whether nothing is to be done.
	force, dry bool
	// timeout is how long one member may take.
	timeout time.Duration
}

// run defragments one member after the other, and stops at the first problem.
func (j *job) run(ctx context.Context) error {
	view, err := j.cluster.Look(ctx)
	if err != nil {
		return err
	}
	queue, err := order(view, j.member, j.all)
	if err != nil {
		return err
	}
	if _, err := j.ready(ctx, queue[0].Name); err != nil {
		return err
	}
	j.announce(view, queue)
	for i, m := range queue {
		if err := j.one(ctx, m.Name); err != nil {
			return fmt.Errorf("%w%s", err, untouched(queue[i+1:]))
		}
	}
	if j.dry {
		output.DryRun(j.out)
	}
	return nil
}

// announce says what will be done.
func (j *job) announce(v members.View, queue []members.Member) {
	var names []string
	total, used := int64(0), int64(0)
	for _, m := range queue {
		names = append(names, m.Name)
		total, used = total+m.Bytes, used+m.InUse
	}
	output.Say(j.out, "Defragmenting %s: %s, of which %s are in use. Each serves nobody while it is busy.",
		members.List(names), terminal.Size(total), terminal.Size(used))
	if heir, err := v.Heir(); err == nil && len(names) > 0 && names[len(names)-1] == v.Leader {
		output.Say(j.out, "Before %s, which leads, leadership is handed over to a voter such as %s.", v.Leader, heir.Name)
	}
}

// one defragments a member, if the others can do without it.
func (j *job) one(ctx context.Context, name string) error {
	view, err := j.ready(ctx, name)
	if err != nil || j.dry {
		return err
	}
	if view.Leader == name {
		if view, err = j.handOver(ctx, view); err != nil {
			return err
		}
		if err := allowed(view, name, j.force); err != nil {
			return err
		}
	}
	before, err := view.Member(name)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := j.defragment(ctx, name); err != nil {
		return err
	}
	took := time.Since(start)
	var after members.Member
	err = j.cluster.Await(ctx, settle, name+" is done, and it is waited for until it is in sync", func(v members.View) bool {
		m, err := v.Member(name)
		after = m
		return err == nil && m.Healthy
	})
	if err != nil {
		return err
	}
	output.Say(j.out, "%s  %s → %s  in %s", name, terminal.Size(before.Bytes), terminal.Size(after.Bytes), took.Round(time.Millisecond))
	return nil
}

// ready looks whether a member may be busy now.
func (j *job) ready(ctx context.Context, name string) (members.View, error) {
	object, err := j.object(ctx)
	if err != nil {
		return members.View{}, err
	}
	if err := undisturbed(object); err != nil { // no pause that is accepted is one that two members make
		return members.View{}, err
	}
	view, err := j.cluster.Look(ctx)
	if err != nil {
		return view, err
	}
	return view, allowed(view, name, j.force)
}

// handOver has another voter lead, if there is one.
func (j *job) handOver(ctx context.Context, view members.View) (members.View, error) {
	heir, err := view.Heir()
	if err != nil { // the pause was accepted
		return view, nil //nolint:nilerr // nobody else can lead: that was allowed
	}
	output.Say(j.out, "%s leads: handing leadership over to %s.", view.Leader, heir.Name)
	if err := j.cluster.MoveLeader(ctx, heir.Name); err != nil {
		return view, err
	}
	return j.cluster.Look(ctx)
}

// defragment waits until the member has answered.
func (j *job) defragment(ctx context.Context, name string) error {
	limited, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	err := j.cluster.Defragment(limited, name)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: %s may be busy for a while yet", name)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s has not answered within %s (--timeout): it may be busy for a while yet; see kubectl etcd status %s",
			name, j.timeout, j.cluster.Name)
	default:
		return err
	}
}

// untouched names those whose turn does not come.
func untouched(rest []members.Member) string {
	if len(rest) == 0 {
		return ""
	}
	var names []string
	for _, m := range rest {
		names = append(names, m.Name)
	}
	return "; not defragmented: " + members.List(names)
}
