package etcdtest

import (
	"errors"
	"slices"
)

// What a server says when it does not start. In each case it leaves no write-ahead log behind.
var (
	// ErrNoData is the answer of a start that needs data where there is none.
	ErrNoData = errors.New("no write-ahead log")
	// ErrHasData is the answer of a start on an empty directory where there is data: etcd would resume instead.
	ErrHasData = errors.New("there is a write-ahead log")
	// ErrBootstrapped is "member has already been bootstrapped": a peer knows this member as one that has started.
	ErrBootstrapped = errors.New("member has already been bootstrapped")
	// ErrNoPeer is "cannot fetch cluster info from peer urls".
	ErrNoPeer = errors.New("no peer answers")
	// ErrMemberCount is "error validating peerURLs": the given list of members is not the one that the peers have.
	ErrMemberCount = errors.New("the member lists differ")
)

// StartNew starts a member on an empty directory with initial-cluster-state=new. Members are the initial cluster; they
// and the cluster ID follow from the token, so that servers with equal lists and tokens meet in one cluster.
func (c *Cluster) StartNew(dir string, clusterID, memberID uint64, initial []Member) error {
	if c.Disk(dir) != nil {
		return ErrHasData
	}
	g := c.Group(clusterID)
	if g == nil {
		c.Groups = append(c.Groups, Group{ID: clusterID, Members: slices.Clone(initial)})
		g = &c.Groups[len(c.Groups)-1]
		for i := range g.Members {
			g.Members[i].Founder = true
		}
	}
	m := g.Member(memberID)
	if c.ListedStarted(clusterID, memberID) {
		return ErrBootstrapped
	}
	c.remember(m)
	c.alone(clusterID, memberID)
	c.Disks = append(c.Disks, Disk{Dir: dir, ClusterID: clusterID, MemberID: memberID, Running: true})
	if !g.Written && m != nil {
		c.Disk(dir).Synced = true
	}
	c.settle()
	return nil
}

// StartJoin starts an added member on an empty directory with initial-cluster-state=existing. The server knows itself
// and the others by their peer URLs only; it compares them with those that a running peer lists.
func (c *Cluster) StartJoin(dir, peerURL string, initial []string) error {
	if c.Disk(dir) != nil {
		return ErrHasData
	}
	g := c.peerGroup(peerURL, initial)
	if g == nil {
		return ErrNoPeer
	}
	var listed []string
	var self *Member
	for i := range g.Members {
		listed = append(listed, g.Members[i].PeerURL)
		if g.Members[i].PeerURL == peerURL {
			self = &g.Members[i]
		}
	}
	given := slices.Sorted(slices.Values(initial))
	slices.Sort(listed)
	if self == nil || !slices.Equal(given, listed) {
		return ErrMemberCount
	}
	torn := self.Remembers
	c.remember(self)
	c.alone(g.ID, self.ID)
	old := slices.ContainsFunc(c.Disks, func(d Disk) bool { return d.ClusterID == g.ID && d.Old })
	c.Disks = append(c.Disks, Disk{Dir: dir, ClusterID: g.ID, MemberID: self.ID, Running: true, Torn: torn, Old: old})
	c.settle()
	return nil
}

// Resume starts a server on its data.
func (c *Cluster) Resume(dir string) error {
	d := c.Disk(dir)
	if d == nil {
		return ErrNoData
	}
	if !d.Running {
		c.alone(d.ClusterID, d.MemberID)
	}
	d.Running = true
	c.settle()
	return nil
}

// Stop ends the server that works on the directory, if one does.
func (c *Cluster) Stop(dir string) {
	if d := c.Disk(dir); d != nil {
		d.Running = false
		c.settle()
	}
}

// Lose ends the server and empties its directory.
func (c *Cluster) Lose(dir string) {
	c.Disks = slices.DeleteFunc(c.Disks, func(d Disk) bool { return d.Dir == dir })
	c.settle()
}

// Publish announces the client URLs of a running member. It reports whether a quorum took note.
func (c *Cluster) Publish(clusterID, memberID uint64) bool {
	g := c.Group(clusterID)
	if g == nil || g.Leader == 0 || !c.Running(clusterID, memberID) {
		return false
	}
	m := g.Member(memberID)
	if m == nil {
		return false
	}
	m.Published = true
	c.commit(g)
	return true
}

// CatchUp brings a running learner in sync with the leader. It reports whether there is a leader to catch up with.
func (c *Cluster) CatchUp(clusterID, memberID uint64) bool {
	g, d := c.Group(clusterID), c.running(clusterID, memberID)
	if g == nil || g.Leader == 0 || d == nil {
		return false
	}
	d.Synced = true
	if m := g.Member(memberID); m != nil {
		m.Matched = true
	}
	return true
}

// Write acknowledges a client's write. It reports whether a quorum took it.
func (c *Cluster) Write(clusterID uint64) bool {
	g := c.Group(clusterID)
	if g == nil || g.Leader == 0 {
		return false
	}
	g.Written = true
	c.commit(g)
	return true
}

// remember notes that a member starts with no memory, and whether it had one. A learner that no one has heard of yet
// does harm to no one but itself.
func (c *Cluster) remember(m *Member) {
	if m == nil {
		return // removed meanwhile: no one listens to it
	}
	if m.Remembers && (m.Published || !m.Learner) {
		c.harm("member %s (%x) started on an empty directory under the ID that it had before", m.Name, m.ID)
	}
	m.Remembers = true
}

// alone notes a second server under one identity.
func (c *Cluster) alone(clusterID, memberID uint64) {
	if c.Running(clusterID, memberID) {
		c.harm("two servers run as member %x of cluster %x", memberID, clusterID)
	}
}

// ListedStarted reports whether another member that runs lists that one as started.
func (c *Cluster) ListedStarted(clusterID, memberID uint64) bool {
	g := c.Group(clusterID)
	if g == nil {
		return false
	}
	m := g.Member(memberID)
	return m != nil && m.Published && c.peerRuns(g, memberID)
}

// peerRuns reports whether a server of the group other than that member's can be asked for the member list.
func (c *Cluster) peerRuns(g *Group, except uint64) bool {
	for _, m := range g.Members {
		if m.ID != except && c.Running(g.ID, m.ID) {
			return true
		}
	}
	return false
}

// peerGroup is the cluster of the first server that is reached at one of the given peer URLs, the joining member's own
// left out; nil if none answers.
func (c *Cluster) peerGroup(self string, urls []string) *Group {
	for i := range c.Groups {
		g := &c.Groups[i]
		for _, m := range g.Members {
			if m.PeerURL != self && slices.Contains(urls, m.PeerURL) && c.Running(g.ID, m.ID) {
				return g
			}
		}
	}
	return nil
}
