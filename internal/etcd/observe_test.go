package etcd_test

import (
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/version"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func TestObserveSingle(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1)
	m := c.Members[0]
	seen := quorum(t, newPool(t), m).Seen

	if seen.ClusterID != m.ClusterID() || seen.Revision < 1 {
		t.Errorf("cluster %x revision %d, want cluster %x and a revision", seen.ClusterID, seen.Revision, m.ClusterID())
	}
	want := plan.Member{ID: m.ID(), Name: m.Name, PeerURL: m.PeerURL, Published: true}
	if len(seen.Members) != 1 || seen.Members[0] != want {
		t.Errorf("members %+v, want %+v", seen.Members, want)
	}
	a := seen.Answers[0]
	if a.Pod != m.Name || a.PodUID != "uid-"+m.Name || a.MemberID != m.ID() || a.ClusterID != m.ClusterID() ||
		a.Leader != m.ID() || a.Learner || a.Version != version.Version || a.Revision != seen.Revision ||
		a.Applied == 0 || a.Committed < a.Applied || a.DBSize == 0 || a.DBSizeInUse == 0 || len(a.Errors) != 0 {
		t.Errorf("answer %+v", a)
	}
}

// The planner computes what the servers are going to call themselves, before there is a server.
func TestIDs(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 3)
	ids, cluster := plan.IDs(c.Token, c.PeerURLs())
	for _, m := range c.Members {
		if ids[m.Name] != m.ID() || cluster != m.ClusterID() {
			t.Errorf("%s is %x of %x, computed %x of %x", m.Name, m.ID(), m.ClusterID(), ids[m.Name], cluster)
		}
	}
}

func TestObserveLosses(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 3)
	pool := newPool(t)
	all := endpoints(c.Members...)
	observe := func() *etcd.Session { return pool.Observe(t.Context(), t.Name(), nil, voting(c.ID, all), all) }

	leads, follows := leader(t, quorum(t, pool, c.Members...), c.Members)
	id := c.Members[leads].ClusterID()
	c.Members[leads].Stop(t)
	eventually(t, "quorum of two", func() bool {
		s := observe().Seen
		return s.Contact == plan.ContactQuorum && len(s.Answers) == 2 && len(s.Members) == 3 && s.ClusterID == id
	})

	c.Members[follows].Stop(t)
	var s *etcd.Session
	eventually(t, "minority", func() bool { s = observe(); return s.Seen.Contact == plan.ContactMinority })
	if len(s.Seen.Answers) != 1 || s.Seen.Members != nil || s.Seen.ClusterID != 0 || s.Seen.Revision != 0 {
		t.Errorf("one of three: %+v", s.Seen)
	}
	if err := s.Remove(t.Context(), s.Seen.Answers[0].MemberID); !errors.Is(err, etcd.ErrNotYet) {
		t.Errorf("a change without quorum: %v", err)
	}

	c.Members[3-leads-follows].Stop(t)
	eventually(t, "none, at once", func() bool { s = observe(); return s.Seen.Contact == plan.ContactNone && !s.Slow })
	if len(s.Seen.Answers) != 0 {
		t.Errorf("nobody runs: %+v", s.Seen)
	}

	for _, m := range c.Members {
		m.Start(t)
	}
	if s = quorum(t, pool, c.Members...); s.Seen.ClusterID != id || len(s.Seen.Members) != 3 {
		t.Errorf("all are back: %+v", s.Seen)
	}
}

// A server that hangs must not keep the operator from the others.
func TestObserveSilent(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 1)
	pool := newPool(t)
	all := append(endpoints(c.Members...),
		etcd.Endpoint{Pod: "hangs-0", Address: silent(t)}, etcd.Endpoint{Pod: "hangs-1", Address: silent(t)},
		etcd.Endpoint{Pod: "malformed", Address: "%"})
	start := time.Now()
	s := pool.Observe(t.Context(), t.Name(), nil, voting(c.ID, all[:1]), all)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s, want little more than the time-out of a second", took)
	}
	if s.Seen.Contact != plan.ContactQuorum || len(s.Seen.Answers) != 1 {
		t.Errorf("seen %+v", s.Seen)
	}
	if !s.Slow {
		t.Error("it says that nobody was waited for")
	}
}

// A stranger at an address of ours is reported, but it does not speak for the cluster and gets none of its changes.
func TestObserveForeign(t *testing.T) {
	t.Parallel()
	var ours, foreign *embedtest.Cluster
	ours = embedtest.Start(t, 2)
	t.Run("foreign", func(t *testing.T) {
		foreign = embedtest.Start(t, 1)
		stranger := foreign.Members[0]
		s := quorumOf(t, newPool(t), ours.ID, stranger, ours.Members[0], ours.Members[1])
		if s.Seen.ClusterID != ours.Members[0].ClusterID() || len(s.Seen.Members) != 2 {
			t.Errorf("seen %+v, want the cluster of the majority", s.Seen)
		}
		if a := s.Seen.Answers[0]; a.ClusterID != stranger.ClusterID() || a.MemberID != stranger.ID() {
			t.Errorf("the stranger is missing: %+v", s.Seen.Answers)
		}
		if err := s.MoveLeader(t.Context(), stranger.ID(), ours.Members[0].ID()); !errors.Is(err, etcd.ErrNotYet) {
			t.Errorf("a change at the stranger: %v", err)
		}
	})
}
