package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrNotYet says that etcd refuses a change now and may allow it later without anybody doing anything.
var ErrNotYet = errors.New("etcd asks to try again later")

// changeTimeout is how long a change of the membership may take.
const changeTimeout = 5 * time.Second

// AddLearner adds a member that does not vote yet. One that is there already is no error.
func (s *Session) AddLearner(ctx context.Context, peerURL string) error {
	return s.change(ctx, "add learner "+peerURL, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MemberAddAsLearner(ctx, []string{peerURL})
		return err
	}, rpctypes.ErrPeerURLExist)
}

// Promote makes a learner a voter. One that votes already is no error.
func (s *Session) Promote(ctx context.Context, id uint64) error {
	return s.change(ctx, fmt.Sprintf("promote %016x", id), func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MemberPromote(ctx, id)
		return err
	}, rpctypes.ErrMemberNotLearner)
}

// Remove takes a member out. One that is gone already is no error.
func (s *Session) Remove(ctx context.Context, id uint64) error {
	return s.change(ctx, fmt.Sprintf("remove %016x", id), func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MemberRemove(ctx, id)
		return err
	}, rpctypes.ErrMemberNotFound)
}

// MoveLeader hands leadership over. Only the leader itself can do it.
func (s *Session) MoveLeader(ctx context.Context, from, to uint64) error {
	c, ok := s.clients[from]
	if !ok {
		return fmt.Errorf("%w: the leader %016x does not answer", ErrNotYet, from)
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	_, err := c.MoveLeader(ctx, to)
	return explain(fmt.Sprintf("move leadership to %016x", to), err, nil)
}

// change asks the first member that can carry it out, the leader if it answers: a follower that forwards a promotion
// failed in releases before 3.5.28 and 3.6.6.
func (s *Session) change(
	ctx context.Context, what string, do func(context.Context, *clientv3.Client) error, done error,
) error {
	voters := s.voters()
	if len(voters) == 0 {
		return fmt.Errorf("%s: %w: no voter that follows a leader answers", what, ErrNotYet)
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	return explain(what, do(ctx, s.clients[voters[0]]), done)
}

// later are the answers that change by themselves. Unhealthy includes a leader that has been connected to a quorum for
// less than five seconds: etcd's own check, which is never to be disabled.
var later = []error{
	rpctypes.ErrUnhealthy, rpctypes.ErrMemberNotEnoughStarted, rpctypes.ErrMemberLearnerNotReady,
	rpctypes.ErrTooManyLearners, rpctypes.ErrNoLeader, rpctypes.ErrNotLeader, rpctypes.ErrLeaderChanged,
	rpctypes.ErrTimeout, rpctypes.ErrTimeoutDueToLeaderFail, rpctypes.ErrTimeoutDueToConnectionLost,
	rpctypes.ErrTimeoutWaitAppliedIndex, rpctypes.ErrNotCapable, rpctypes.ErrStopped, context.DeadlineExceeded,
}

func explain(what string, err, done error) error {
	if err == nil || done != nil && errors.Is(err, done) {
		return nil
	}
	for _, e := range later {
		if errors.Is(err, e) {
			return fmt.Errorf("%s: %w: %w", what, ErrNotYet, err)
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
