package etcdtest

import (
	"errors"
	"slices"
)

// Answers of etcd to calls that it refuses.
var (
	// ErrNoLeader stands for the timeout of a call that no quorum takes.
	ErrNoLeader = errors.New("no leader")
	// ErrUnhealthy is "unhealthy cluster".
	ErrUnhealthy = errors.New("unhealthy cluster")
	// ErrNotEnoughStarted is "re-configuration failed due to not enough started members".
	ErrNotEnoughStarted = errors.New("not enough started members")
	// ErrPeerURLExists is "Peer URLs already exists".
	ErrPeerURLExists = errors.New("peer URL exists")
	// ErrTooManyLearners is "too many learner members in cluster".
	ErrTooManyLearners = errors.New("too many learners")
	// ErrNotFound is "member not found".
	ErrNotFound = errors.New("member not found")
	// ErrNotLearner is "can only promote a learner member".
	ErrNotLearner = errors.New("not a learner")
	// ErrNotReady is "can only promote a learner member which is in sync with leader".
	ErrNotReady = errors.New("learner not ready")
	// ErrBadTransferee is "bad leader transferee".
	ErrBadTransferee = errors.New("bad leader transferee")
)

// Read reports whether a linearizable read succeeds.
func (c *Cluster) Read(clusterID uint64) bool {
	g := c.Group(clusterID)
	return g != nil && g.Leader != 0
}

// leading returns the cluster if it has a leader to make calls on.
func (c *Cluster) leading(clusterID uint64) (*Group, error) {
	if !c.Read(clusterID) {
		return nil, ErrNoLeader
	}
	return c.Group(clusterID), nil
}

// AddLearner adds a non-voting member. The ID is the caller's choice, for etcd's is random.
func (c *Cluster) AddLearner(clusterID, id uint64, name, peerURL string) error {
	g, err := c.leading(clusterID)
	if err != nil {
		return err
	}
	// The new member is counted as one that is down; a single voter is let off (mayAddMember in etcd's server).
	if n := g.Voters(); n > 1 && c.runningVoters(g) < Quorum(n+1) {
		return ErrUnhealthy
	}
	learners := 0
	for _, m := range g.Members {
		if m.PeerURL == peerURL {
			return ErrPeerURLExists
		}
		if m.Learner {
			learners++
		}
	}
	if learners >= c.MaxLearners {
		return ErrTooManyLearners
	}
	g.Members = append(g.Members, Member{ID: id, Name: name, PeerURL: peerURL, Learner: true})
	c.commit(g)
	return nil
}

// Promote makes a learner a voter. The leader goes by what it believes the learner's log to be: one that has just
// stopped, or just lost its data, is promoted all the same.
func (c *Cluster) Promote(clusterID, id uint64) error {
	g, err := c.leading(clusterID)
	if err != nil {
		return err
	}
	m := g.Member(id)
	switch {
	case m == nil:
		return ErrNotFound
	case !m.Learner:
		return ErrNotLearner
	}
	switch {
	case !m.Matched:
		return ErrNotReady
	case g.started()+1 < Quorum(g.Voters()+1):
		return ErrNotEnoughStarted
	}
	m.Learner, m.Matched = false, false
	c.commit(g)
	c.settle()
	return nil
}

// Remove takes a member out.
func (c *Cluster) Remove(clusterID, id uint64) error {
	g, err := c.leading(clusterID)
	if err != nil {
		return err
	}
	m := g.Member(id)
	if m == nil {
		return ErrNotFound
	}
	if !m.Learner {
		if err := c.mayRemove(g, m); err != nil {
			return err
		}
	}
	g.Members = slices.DeleteFunc(g.Members, func(m Member) bool { return m.ID == id })
	c.commit(g)
	c.settle()
	return nil
}

// mayRemove is etcd's strict-reconfig-check: a voter that is down may go, one that is up only if enough others are. The
// last voter never may.
func (c *Cluster) mayRemove(g *Group, m *Member) error {
	n, started := g.Voters(), g.started()
	if m.Founder || m.Published {
		started--
	}
	if started < Quorum(n-1) {
		return ErrNotEnoughStarted
	}
	if c.Running(g.ID, m.ID) && c.runningVoters(g)-1 < 1+(n-1)/2 {
		return ErrUnhealthy
	}
	return nil
}

// MoveLeader hands leadership to another voter.
func (c *Cluster) MoveLeader(clusterID, to uint64) error {
	g, err := c.leading(clusterID)
	if err != nil {
		return err
	}
	m := g.Member(to)
	if m == nil || m.Learner {
		return ErrBadTransferee
	}
	if !c.Running(clusterID, to) {
		return ErrNoLeader
	}
	g.Leader = to
	c.probe(g)
	return nil
}
