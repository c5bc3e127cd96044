package etcd_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// deadline is for conditions that the servers are to reach: generous, for machines that run many tests at once.
const deadline = 30 * time.Second

// eventually asks again until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(deadline)
	for !condition() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not within %s", what, deadline)
		}
	}
}

// succeeds asks again as long as etcd says that it is not the time yet.
func succeeds(t *testing.T, what string, do func() error) {
	t.Helper()
	eventually(t, what, func() bool {
		err := do()
		if err != nil && !errors.Is(err, etcd.ErrNotYet) {
			t.Fatalf("%s: %v", what, err)
		}
		return err == nil
	})
}

func endpoints(members ...*embedtest.Member) []etcd.Endpoint {
	var out []etcd.Endpoint
	for _, m := range members {
		out = append(out, etcd.Endpoint{Pod: m.Name, PodUID: "uid-" + m.Name, Address: m.Address})
	}
	return out
}

// voting is an electorate of all of them but the learners.
func voting(cluster uint64, endpoints []etcd.Endpoint) plan.Electorate {
	e := plan.Electorate{ClusterID: cluster, Guessed: true}
	for _, endpoint := range endpoints {
		e.Voters = append(e.Voters, endpoint.Pod)
	}
	return e
}

func newPool(t *testing.T) *etcd.Pool {
	t.Helper()
	pool := etcd.NewPool()
	t.Cleanup(pool.Close)
	return pool
}

// quorum observes until a quorum of these members answers and all of them follow a leader.
func quorum(t *testing.T, pool *etcd.Pool, members ...*embedtest.Member) *etcd.Session {
	t.Helper()
	return quorumOf(t, pool, members[len(members)-1].ClusterID(), members...)
}

// quorumOf does so where they are not all of one cluster.
func quorumOf(t *testing.T, pool *etcd.Pool, cluster uint64, members ...*embedtest.Member) *etcd.Session {
	t.Helper()
	all := endpoints(members...)
	var s *etcd.Session
	eventually(t, "quorum", func() bool {
		s = pool.Observe(t.Context(), t.Name(), nil, voting(cluster, all), all)
		for _, a := range s.Seen.Answers {
			if a.Leader == 0 {
				return false
			}
		}
		return s.Seen.Contact == plan.ContactQuorum && len(s.Seen.Answers) == len(members)
	})
	return s
}

// leader is the index of the member that leads, and that of one that does not.
func leader(t *testing.T, s *etcd.Session, members []*embedtest.Member) (leads, follows int) {
	t.Helper()
	leads, follows = -1, -1
	for i, m := range members {
		if m.ID() == s.Seen.Answers[0].Leader {
			leads = i
		} else {
			follows = i
		}
	}
	if leads < 0 {
		t.Fatalf("nobody leads: %+v", s.Seen.Answers)
	}
	return leads, follows
}

// listed finds a member by its peer URL, nil if it is not listed.
func listed(s *etcd.Session, peerURL string) *plan.Member {
	for i, m := range s.Seen.Members {
		if m.PeerURL == peerURL {
			return &s.Seen.Members[i]
		}
	}
	return nil
}

// silent accepts connections and never says a word, like a server that hangs.
func silent(t *testing.T) string {
	t.Helper()
	return listener(t).Addr().String() // the kernel accepts
}

// listener is one on this machine, closed when the test ends.
func listener(t *testing.T) net.Listener {
	t.Helper()
	config := net.ListenConfig{}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
