package etcd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
)

// ErrNotYet says that etcd refuses a change now and may allow it later by itself. It is also the error if it is unknown whether the
// change was made: all changes are safe to repeat.
var ErrNotYet = etcdclient.ErrNotYet

// changeTimeout is how long a change of the membership may take, whoever is asked. etcd itself gives up after 7 s, but
// an answer that took this long comes late in any case, and asking again is safe.
const changeTimeout = 5 * time.Second

// AddLearner adds a learner. It is no error if it exists already, with this peer URL. Where one voter finds itself cut off, another one is
// asked: a learner does not count for the quorum. With all other changes such an answer is final.
func (s *Session) AddLearner(ctx context.Context, peerURL string) error {
	others := func(err error) bool { return etcdclient.Unanswered(err) || etcdclient.CutOff(err) }
	return s.ask(ctx, "add learner "+peerURL, s.voters, others, func(ctx context.Context, c *etcdclient.Client) error {
		return c.AddLearner(ctx, peerURL)
	})
}

// Promote makes a learner a voter. It is no error if it is one already; if it is not in sync yet it is ErrNotYet.
func (s *Session) Promote(ctx context.Context, id uint64) error {
	what := fmt.Sprintf("promote %016x", id)
	return s.change(ctx, what, s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.Promote(ctx, id)
	})
}

// Remove removes a member. It is no error if it is gone already.
func (s *Session) Remove(ctx context.Context, id uint64) error {
	// The member that goes is asked last: it stops when it has applied its removal, and the answer may get lost.
	order := slices.Clone(s.voters)
	slices.SortStableFunc(order, func(a, b peer) int {
		return toInt(a.response.MemberID == id) - toInt(b.response.MemberID == id)
	})
	what := fmt.Sprintf("remove %016x", id)
	return s.change(ctx, what, order, func(ctx context.Context, c *etcdclient.Client) error {
		return c.Remove(ctx, id)
	})
}

// UpdatePeerURL changes where the other members connect to a voter, which has to listen there already. It is no error if that is its only
// URL already. A learner must not be updated: etcd 3.5.22 and 3.6.8, for two, list it as a voter from then on although raft does not count it
// as one, because the request says nothing of learners (RaftCluster.UpdateRaftAttributes; 3.5.35 and 3.6.15 change the URL only).
func (s *Session) UpdatePeerURL(ctx context.Context, id uint64, peerURL string) error {
	what := fmt.Sprintf("change the peer URL of %016x to %s", id, peerURL)
	return s.change(ctx, what, s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.UpdatePeerURL(ctx, id, peerURL)
	})
}

// MoveLeader hands leadership over. Only the leader can do it: when from does not lead (any more), or does not answer,
// the error is ErrNotYet.
func (s *Session) MoveLeader(ctx context.Context, from, to uint64) error {
	leader := slices.DeleteFunc(slices.Clone(s.voters), func(p peer) bool { return p.response.MemberID != from })
	what := fmt.Sprintf("move leadership from %016x to %016x", from, to)
	return s.change(ctx, what, leader, func(ctx context.Context, c *etcdclient.Client) error {
		return c.MoveLeader(ctx, to)
	})
}

// Compact has etcd give up the history of keys before that revision. It is no error if that is gone already. It returns before the pages are
// free.
func (s *Session) Compact(ctx context.Context, revision int64) error {
	return s.change(ctx, fmt.Sprintf("compact to revision %d", revision), s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.Compact(ctx, revision)
	})
}

// change asks the members in this order until one answers: the leader first, for a follower that forwards a
// promotion failed in releases before 3.5.28 and 3.6.6 where authentication was on. What etcd answers is final.
func (s *Session) change(ctx context.Context, what string, order []peer,
	do func(context.Context, *etcdclient.Client) error,
) error {
	return s.ask(ctx, what, order, etcdclient.Unanswered, do)
}

// ask asks the members in this order for as long as others are to be asked after such an error.
func (s *Session) ask(ctx context.Context, what string, order []peer, others func(error) bool,
	do func(context.Context, *etcdclient.Client) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	err := fmt.Errorf("%s: %w: no voter that can do this has answered", what, ErrNotYet)
	for _, p := range order {
		if err = do(ctx, p.client); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		if !others(err) {
			break
		}
	}
	return err
}

// toInt is 1 for true and 0 for false, so that they can be sorted.
func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
