package etcd_test

import (
	"testing"
	"time"
)

// TestLag tells how long a member has been far behind, from its second look on, until it has caught up, and costs no request besides.
func TestLag(t *testing.T) {
	t.Parallel()
	servers, endpoints := three(t)
	for _, s := range servers {
		s.set(func(s *server) { s.committed = 9000 })
	}
	pool := newPool(t)
	look := func() map[string]time.Duration {
		behind := map[string]time.Duration{}
		for _, a := range pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen.Answers {
			behind[a.Pod] = a.Behind
		}
		return behind
	}
	wants := func(when string, lags bool) {
		t.Helper()
		if got := look(); len(got) != 3 || (got["m-1"] > 0) != lags || got["m-0"]+got["m-2"] != 0 {
			t.Errorf("%s: %v", when, got)
		}
	}
	wants("in sync", false)
	servers[1].set(func(s *server) { s.backlog = 2000 })
	wants("the first look", false)
	wants("the second look", true)
	servers[1].set(func(s *server) { s.backlog = 0 })
	wants("caught up", false)
	servers[1].set(func(s *server) { s.backlog = 2000 })
	wants("behind again", false)
	for _, s := range servers {
		s.set(func(s *server) {
			if s.asked != 0 {
				t.Errorf("server %d was asked %d times for its metrics", s.id, s.asked)
			}
		})
	}
}
