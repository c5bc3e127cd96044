package etcdclient

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// AddLearner adds a learner. It is no error if it exists already, with this peer URL.
//
// The ID of an added member is made of its peer URL and the time in seconds (computeMemberID in etcd's membership
// package): a repetition within the second fails because the ID exists, or because it was removed, if it was.
func (c *Client) AddLearner(ctx context.Context, peerURL string) error {
	_, err := c.client.MemberAddAsLearner(ctx, []string{peerURL})
	if errors.Is(err, rpctypes.ErrMemberNotFound) {
		return fmt.Errorf("%w: the ID was used and removed in this second: %w", ErrNotYet, err)
	}
	return outcome(err, rpctypes.ErrPeerURLExist, rpctypes.ErrMemberExist)
}

// Promote makes a learner a voter. It is no error if it is one already; if it is not in sync yet it is ErrNotYet.
func (c *Client) Promote(ctx context.Context, id uint64) error {
	_, err := c.client.MemberPromote(ctx, id)
	return outcome(err, rpctypes.ErrMemberNotLearner)
}

// Remove removes a member. It is no error if it is gone already.
func (c *Client) Remove(ctx context.Context, id uint64) error {
	_, err := c.client.MemberRemove(ctx, id)
	return outcome(err, rpctypes.ErrMemberNotFound)
}

// UpdatePeerURL changes where the other members connect to a member. It is no error if they do so there already.
func (c *Client) UpdatePeerURL(ctx context.Context, id uint64, peerURL string) error {
	_, err := c.client.MemberUpdate(ctx, id, []string{peerURL})
	return outcome(err)
}

// MoveLeader hands over leadership. Only the leader can: asked of another member it is ErrNotYet.
func (c *Client) MoveLeader(ctx context.Context, to uint64) error {
	_, err := c.client.MoveLeader(ctx, to)
	return outcome(err)
}

// EnableDowngrade enables the downgrade to a minor version such as "3.6": exactly one below the cluster's. It is no error if it is
// enabled already. While the cluster has not reached the version that all of its members run, or another downgrade is enabled, the
// error is ErrNotYet.
func (c *Client) EnableDowngrade(ctx context.Context, version string) error {
	_, err := c.client.Downgrade(ctx, clientv3.DowngradeEnable, version+".0")
	if errors.Is(err, rpctypes.ErrInvalidDowngradeTargetVersion) {
		return fmt.Errorf("%w: the cluster's version is not the next one above: %w", ErrNotYet, err)
	}
	return outcome(err, rpctypes.ErrDowngradeInProcess)
}

// CancelDowngrade cancels a downgrade. It is no error if none is enabled.
func (c *Client) CancelDowngrade(ctx context.Context) error {
	_, err := c.client.Downgrade(ctx, clientv3.DowngradeCancel, "")
	return outcome(err, rpctypes.ErrNoInflightDowngrade)
}

// Compact gives up the history of keys before that revision. It is no error if that is gone already.
func (c *Client) Compact(ctx context.Context, revision int64) error {
	_, err := c.client.Compact(ctx, revision)
	return outcome(err, rpctypes.ErrCompacted)
}

// Defragment has the member behind a client of one endpoint write its database anew, without the free pages, and returns once it has. It
// serves nobody meanwhile. A member goes on even if nobody waits for it any more.
func (c *Client) Defragment(ctx context.Context) error {
	// The client's own Defragment makes a connection for each call.
	_, err := pb.NewMaintenanceClient(c.client.ActiveConnection()).Defragment(ctx, &pb.DefragmentRequest{})
	return outcome(translate(err))
}

// Disarm takes an alarm back. It is no error if there is none. An alarm of a kind that etcd does not know is one.
func (c *Client) Disarm(ctx context.Context, a Alarm) error {
	kind, known := pb.AlarmType_value[a.Kind]
	if !known || kind == 0 { // without a kind and a member etcd's client would disarm all
		return fmt.Errorf("etcd has no alarm %q", a.Kind)
	}
	_, err := c.client.AlarmDisarm(ctx, &clientv3.AlarmMember{MemberID: a.Member, Alarm: pb.AlarmType(kind)})
	return outcome(err)
}
