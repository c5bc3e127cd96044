package etcdclient

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// AddLearner adds a member that does not vote yet. One that is there already, with this peer URL, is no error.
//
// The ID of an added member is made of its peer URL and the time in seconds (computeMemberID in etcd's membership
// package): a repetition within the second is told that the ID exists, and so that it was removed if it was.
func (c *Client) AddLearner(ctx context.Context, peerURL string) error {
	_, err := c.client.MemberAddAsLearner(ctx, []string{peerURL})
	if errors.Is(err, rpctypes.ErrMemberNotFound) {
		return fmt.Errorf("%w: the ID was used and removed in this second: %w", ErrNotYet, err)
	}
	return outcome(err, rpctypes.ErrPeerURLExist, rpctypes.ErrMemberExist)
}

// Promote makes a learner a voter. One that votes already is no error; one that is not in sync yet is ErrNotYet.
func (c *Client) Promote(ctx context.Context, id uint64) error {
	_, err := c.client.MemberPromote(ctx, id)
	return outcome(err, rpctypes.ErrMemberNotLearner)
}

// Remove takes a member out. One that is gone already is no error.
func (c *Client) Remove(ctx context.Context, id uint64) error {
	_, err := c.client.MemberRemove(ctx, id)
	return outcome(err, rpctypes.ErrMemberNotFound)
}

// MoveLeader hands leadership over. Only the leader can do it: of another one it is ErrNotYet.
func (c *Client) MoveLeader(ctx context.Context, to uint64) error {
	_, err := c.client.MoveLeader(ctx, to)
	return outcome(err)
}

// EnableDowngrade tells the cluster to go down to a minor version such as "3.6": exactly one below its own. It is no
// error if it has been told so. While the cluster has not reached the version that all of its members run, or is told
// another one, the error is ErrNotYet.
func (c *Client) EnableDowngrade(ctx context.Context, version string) error {
	_, err := c.client.Downgrade(ctx, clientv3.DowngradeEnable, version+".0")
	if errors.Is(err, rpctypes.ErrInvalidDowngradeTargetVersion) {
		return fmt.Errorf("%w: the cluster's version is not the next one above: %w", ErrNotYet, err)
	}
	return outcome(err, rpctypes.ErrDowngradeInProcess)
}

// CancelDowngrade takes EnableDowngrade back. It is no error if nothing is enabled.
func (c *Client) CancelDowngrade(ctx context.Context) error {
	_, err := c.client.Downgrade(ctx, clientv3.DowngradeCancel, "")
	return outcome(err, rpctypes.ErrNoInflightDowngrade)
}
