package etcd_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// wantNotYet checks that a refusal is temporary and says why in etcd's words.
func wantNotYet(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, etcd.ErrNotYet) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want ErrNotYet with %q", err, text)
	}
}

// The life of a learner, every call made twice: an answer may get lost.
func TestLearner(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1, func(e *embed.Config) { e.MaxLearners = 1 })
	voter, learner, further := c.Members[0], c.NewMember(t), c.NewMember(t)
	pool := newPool(t)
	s := quorum(t, pool, voter)
	ctx := t.Context()

	for range 2 {
		if err := s.AddLearner(ctx, learner.PeerURL); err != nil {
			t.Fatal(err)
		}
	}
	wantNotYet(t, s.AddLearner(ctx, further.PeerURL), "too many learner members")
	if err := s.AddLearner(ctx, "nonsense"); err == nil || errors.Is(err, etcd.ErrNotYet) {
		t.Errorf("no URL: %v", err)
	}
	s = quorum(t, pool, voter)
	added := listed(s, learner.PeerURL)
	if len(s.Seen.Members) != 2 || added == nil || !added.Learner || added.Published {
		t.Fatalf("added: %+v", s.Seen.Members)
	}
	wantNotYet(t, s.Promote(ctx, added.ID), "in sync with leader")
	if err := s.Promote(ctx, 42); err == nil || errors.Is(err, etcd.ErrNotYet) {
		t.Errorf("promotion of nobody: %v", err)
	}

	learner.Join(t, c.InitialCluster(voter, learner))
	learner.WaitReady(t)
	s = quorum(t, pool, voter, learner)
	if a := s.Seen.Answers[1]; !a.Learner || a.MemberID != added.ID || a.Leader != voter.ID() {
		t.Errorf("the learner's own answer: %+v", a)
	}
	if m := listed(s, learner.PeerURL); !m.Published || !m.Learner {
		t.Errorf("joined: %+v", m)
	}
	// A learner answers for itself, but it speaks for no one.
	alone := newPool(t).Observe(ctx, t.Name(), nil, voting(c.ID, endpoints(learner)), endpoints(learner)).Seen
	if alone.Contact != plan.ContactMinority || len(alone.Answers) != 1 {
		t.Errorf("only the learner: %+v", alone)
	}

	succeeds(t, "promotion", func() error { return s.Promote(ctx, added.ID) })
	succeeds(t, "promotion again", func() error { return s.Promote(ctx, added.ID) })
	if m := listed(quorum(t, pool, voter, learner), learner.PeerURL); m == nil || m.Learner || !m.Published {
		t.Errorf("promoted: %+v", m)
	}
}

// TestUpdatePeerURL changes a voter's URL, repeatedly, but to none that another member has.
func TestUpdatePeerURL(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1)
	voter, learner := c.Members[0], c.NewMember(t)
	pool := newPool(t)
	ctx, next := t.Context(), "http://127.0.0.1:1"
	s := quorum(t, pool, voter)
	for range 2 {
		if err := s.UpdatePeerURL(ctx, voter.ID(), next); err != nil {
			t.Fatal(err)
		}
	}
	s = quorum(t, pool, voter)
	if m := listed(s, next); m == nil || m.ID != voter.ID() || m.Learner || !m.Published {
		t.Fatalf("updated: %+v", s.Seen.Members)
	}
	if err := s.UpdatePeerURL(ctx, 42, "http://127.0.0.1:2"); err == nil || errors.Is(err, etcd.ErrNotYet) {
		t.Errorf("nobody's URL: %v", err)
	}
	succeeds(t, "addition", func() error { return s.AddLearner(ctx, learner.PeerURL) })
	if err := s.UpdatePeerURL(ctx, voter.ID(), learner.PeerURL); err == nil {
		t.Error("two members have one URL")
	}
}

// Within one second etcd gives the same peer URL the same ID, which never comes back once it was removed.
func TestAddLearnerAgain(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1)
	pool, learner := newPool(t), c.NewMember(t)
	for range 2 {
		s := quorum(t, pool, c.Members[0])
		succeeds(t, "addition", func() error { return s.AddLearner(t.Context(), learner.PeerURL) })
		s = quorum(t, pool, c.Members[0])
		if err := s.Remove(t.Context(), listed(s, learner.PeerURL).ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMoveLeaderAndRemove(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 3)
	pool := newPool(t)
	ctx := t.Context()
	s := quorum(t, pool, c.Members...)
	leads, follows := leader(t, s, c.Members)
	from, to := c.Members[leads].ID(), c.Members[follows].ID()

	wantNotYet(t, s.MoveLeader(ctx, to, from), "not leader")
	if err := s.MoveLeader(ctx, from, 42); err == nil || errors.Is(err, etcd.ErrNotYet) {
		t.Errorf("leadership for nobody: %v", err)
	}
	if err := s.MoveLeader(ctx, from, to); err != nil {
		t.Fatal(err)
	}
	eventually(t, "new leader", func() bool {
		s = quorum(t, pool, c.Members...)
		return s.Seen.Answers[0].Leader == to
	})

	// The leader itself goes, and the answer is there nevertheless. Its peers must have been connected for five seconds.
	for range 2 {
		succeeds(t, "removal", func() error { return s.Remove(ctx, to) })
	}
	rest := []*embedtest.Member{c.Members[leads], c.Members[3-leads-follows]}
	if s = quorum(t, pool, rest...); len(s.Seen.Members) != 2 || listed(s, c.Members[follows].PeerURL) != nil {
		t.Errorf("removed: %+v", s.Seen.Members)
	}
	if err := s.Remove(ctx, to); err != nil {
		t.Errorf("removal of a member that is gone: %v", err)
	}
}

// With one of three voters down etcd adds no one, not even a learner: removing comes first.
func TestAddLearnerWhileOneIsDown(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 3)
	pool := newPool(t)
	_, follows := leader(t, quorum(t, pool, c.Members...), c.Members)
	id := c.Members[follows].ID()
	c.Members[follows].Stop(t)
	rest := slices.Delete(slices.Clone(c.Members), follows, follows+1)
	s := quorum(t, pool, rest...)
	wantNotYet(t, s.AddLearner(t.Context(), "http://127.0.0.1:1"), "unhealthy cluster")
	succeeds(t, "removal", func() error { return s.Remove(t.Context(), id) })
}

// A member that has gone since the observation is passed over.
func TestChangeAfterLoss(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 3)
	pool := newPool(t)
	s := quorum(t, pool, c.Members...)
	leads, follows := leader(t, s, c.Members)
	from, to := c.Members[leads].ID(), c.Members[follows].ID()
	c.Members[leads].Stop(t)
	wantNotYet(t, s.MoveLeader(t.Context(), from, to), "")
	succeeds(t, "removal of the stopped leader", func() error { return s.Remove(t.Context(), from) })
}
