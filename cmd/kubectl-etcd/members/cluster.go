package members

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// looks is how often it is asked again until all have answered: the first connection through a tunnel takes long.
	looks = 3
	// pause is the time between two looks at what is awaited.
	pause = 250 * time.Millisecond
)

// Config is how a cluster's members are reached, and whose word counts.
type Config struct {
	// Name is the cluster's.
	Name string
	// TLS is how to talk to members, nil for plain text.
	TLS *tls.Config
	// Endpoints are the members that can be reached, and Unreached says of the others why they cannot.
	Endpoints []etcd.Endpoint
	Unreached map[string]string
	// Electorate is whose word counts.
	Electorate plan.Electorate
}

// Cluster is one whose members can be asked and told. It is not safe for concurrent use.
type Cluster struct {
	Config
	pool  *etcd.Pool
	links *reach.Links
	last  *etcd.Session
	seen  View
}

// New is a cluster whose members are reached in that way.
func New(config Config) *Cluster { return &Cluster{Config: config, pool: etcd.NewPool()} }

// Open opens tunnels to the members of an EtcdCluster.
func Open(ctx context.Context, access *reach.Access, seen *reach.Seen) (*Cluster, error) {
	electorate, err := electorateOf(seen.Object)
	if err != nil {
		return nil, err
	}
	links, err := access.Connect(ctx, seen)
	if err != nil {
		return nil, err
	}
	c := New(Config{
		Name: seen.Object.Name, TLS: links.TLS, Endpoints: links.Endpoints, Unreached: links.Unreached, Electorate: electorate,
	})
	c.links = links
	return c, nil
}

// OpenNamed reads an EtcdCluster, and opens tunnels to its members.
func OpenNamed(ctx context.Context, access *reach.Access, name string) (*Cluster, *v1beta2.EtcdCluster, error) {
	seen, err := access.Cluster(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	c, err := Open(ctx, access, seen)
	return c, seen.Object, err
}

// electorateOf are the voters that status names.
func electorateOf(c *v1beta2.EtcdCluster) (plan.Electorate, error) {
	id, err := strconv.ParseUint(c.Status.ClusterID, 16, 64)
	if err != nil {
		return plan.Electorate{}, fmt.Errorf("%s has not been up yet: its status names no cluster ID", c.Name)
	}
	e := plan.Electorate{ClusterID: id}
	for _, m := range c.Status.MemberStatuses {
		if m.Role == v1beta2.MemberRoleVoter {
			e.Voters = append(e.Voters, m.Name)
		}
	}
	return e, nil
}

// Close closes all connections and tunnels.
func (c *Cluster) Close() {
	c.pool.Close()
	if c.links != nil {
		c.links.Close()
	}
}

// Look asks all members. The error says that there is no quorum, or that etcd's authentication keeps its word to itself.
func (c *Cluster) Look(ctx context.Context) (View, error) {
	for range looks {
		c.last = c.pool.Observe(ctx, c.Name, c.TLS, c.Electorate, c.Endpoints)
		c.seen = Of(c.last.Seen, c.Electorate.Voters, c.Unreached)
		if ctx.Err() != nil || c.seen.Quorum && len(c.last.Seen.Answers) == len(c.Endpoints) {
			break
		}
	}
	switch denied := c.last.Denied(); {
	case ctx.Err() != nil:
		return c.seen, context.Cause(ctx)
	case denied != "":
		return c.seen, c.explain(errors.New(denied))
	case !c.seen.Quorum:
		return c.seen, fmt.Errorf("%s has no quorum, so nothing is changed: no majority of its voters can be heard; missing: %s",
			c.Name, strings.Join(c.seen.Silent, ", "))
	}
	return c.seen, nil
}

// Await looks until the condition holds.
func (c *Cluster) Await(ctx context.Context, within time.Duration, what string, holds func(View) bool) error {
	limit := time.NewTimer(within)
	defer limit.Stop()
	for {
		view, err := c.Look(ctx)
		if err == nil && holds(view) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit.C:
			if err != nil {
				return fmt.Errorf("%s: not within %s: %w", what, within, err)
			}
			return fmt.Errorf("%s: not within %s", what, within)
		case <-time.After(pause):
		}
	}
}

// MoveLeader hands leadership over to a voter, as it was seen last, and returns once it leads.
func (c *Cluster) MoveLeader(ctx context.Context, to string) error {
	const within = 10 * time.Second
	from, err := c.seen.Member(c.seen.Leader)
	if err != nil {
		return fmt.Errorf("nobody leads %s: try again", c.Name)
	}
	heir, err := c.seen.Member(to)
	if err != nil {
		return err
	}
	if err := c.last.MoveLeader(ctx, from.ID, heir.ID); err != nil {
		return c.explain(err)
	}
	return c.Await(ctx, within, "wait until "+to+" leads", func(v View) bool { return v.Leader == to })
}

// Promote makes a learner a voter.
func (c *Cluster) Promote(ctx context.Context, name string) error {
	m, err := c.seen.Member(name)
	if err != nil {
		return err
	}
	return c.explain(c.last.Promote(ctx, m.ID))
}

// Defragment has a member write its database anew. It returns once it has, or with the context.
func (c *Cluster) Defragment(ctx context.Context, name string) error {
	i := slices.IndexFunc(c.Endpoints, func(e etcd.Endpoint) bool { return e.Pod == name })
	if i < 0 {
		return fmt.Errorf("%s cannot be talked to: %s", name, c.Unreached[name])
	}
	return c.explain(c.pool.Defragment(ctx, c.Name, c.TLS, c.Endpoints[i]))
}

// explain says what to do about etcd's refusal of a stranger.
func (c *Cluster) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case etcdclient.Denied(err), etcdclient.DeniedText(err.Error()):
		return fmt.Errorf("etcd's authentication is on, and the certificate that is used is of a user without the role root: %w; "+
			"give --secret a Secret with a certificate of one who has it, such as %s-agent", err, c.Name)
	default:
		return err
	}
}
