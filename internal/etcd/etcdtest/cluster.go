package etcdtest

import (
	"fmt"
	"slices"
)

// Member is an entry of a member list.
type Member struct {
	ID      uint64
	Name    string
	PeerURL string
	// Published is true once the member has announced its client URLs.
	Published bool
	Learner   bool
	// Founder is true for a member of the initial cluster. Etcd takes it for started from the beginning, because it has a
	// name; an added member has one only once it has published.
	Founder bool
	// Remembers is true once the member has ever had a write-ahead log: from then on others may count on its memory.
	Remembers bool
	// Matched is true while the leader believes that a learner's log equals its own. A stop does not change the belief.
	Matched bool
}

// Disk is a data directory with a write-ahead log. A directory without one is not listed.
type Disk struct {
	// Dir names the directory.
	Dir       string
	ClusterID uint64
	MemberID  uint64
	// Synced is true while the log holds all that a quorum has acknowledged.
	Synced bool
	// Running is true while an etcd works on the directory.
	Running bool
	// Torn is true for the log of a learner that began again from nothing: it lacks what the leader takes it to have, and
	// etcd panics at the first heartbeat ("tocommit is out of range") whenever it starts.
	Torn bool
	// Version is the minor version of the server that ran last, and Schema that of the cluster when it last took note; 0 if
	// no one has said.
	Version, Schema int
	// Listeners are where the server is that ran last.
	Listeners Listeners
	// Old is true while the log may hold entries that etcd 3.5 wrote, which 3.7 cannot read: until a snapshot is written.
	Old bool
}

// Group is one cluster: what its quorum has agreed on.
type Group struct {
	ID      uint64
	Members []Member
	// Leader is the leader's member ID, 0 while there is none: then no quorum runs.
	Leader uint64
	// Written is true once a client's write was acknowledged.
	Written bool
	// Version is the cluster's minor version, and Downgrade the one that it was told to go down to; 0 if none.
	Version, Downgrade int
}

// Cluster is every server and every data directory of one name, of however many etcd clusters. The zero value is empty.
type Cluster struct {
	// MaxLearners is the servers' limit: 1 in etcd 3.5, the flag max-learners from 3.6.
	MaxLearners int
	// Walled is the port on which no member reaches another, empty if there is none.
	Walled string
	Groups []Group
	Disks  []Disk
	// Harm says what was done that can lose acknowledged writes, empty if nothing.
	Harm string
}

// Clone returns a deep copy.
func (c *Cluster) Clone() Cluster {
	out := *c
	out.Disks = slices.Clone(c.Disks)
	out.Groups = slices.Clone(c.Groups)
	for i := range out.Groups {
		out.Groups[i].Members = slices.Clone(out.Groups[i].Members)
	}
	return out
}

// Group returns the cluster with that ID, nil if there never was one.
func (c *Cluster) Group(id uint64) *Group {
	for i := range c.Groups {
		if c.Groups[i].ID == id {
			return &c.Groups[i]
		}
	}
	return nil
}

// Disk returns the data in that directory, nil if there is none.
func (c *Cluster) Disk(dir string) *Disk {
	for i := range c.Disks {
		if c.Disks[i].Dir == dir {
			return &c.Disks[i]
		}
	}
	return nil
}

// Member returns the member with that ID, nil if it is not listed.
func (g *Group) Member(id uint64) *Member {
	for i := range g.Members {
		if g.Members[i].ID == id {
			return &g.Members[i]
		}
	}
	return nil
}

// Forget drops the clusters that have no data left, except those that keep names.
func (c *Cluster) Forget(keep func(clusterID uint64) bool) {
	c.Groups = slices.DeleteFunc(c.Groups, func(g Group) bool {
		return !keep(g.ID) && !slices.ContainsFunc(c.Disks, func(d Disk) bool { return d.ClusterID == g.ID })
	})
}

// Named returns the member with that name, nil if it is not listed.
func (g *Group) Named(name string) *Member {
	for i := range g.Members {
		if g.Members[i].Name == name {
			return &g.Members[i]
		}
	}
	return nil
}

// Voters counts the members that vote.
func (g *Group) Voters() int {
	n := 0
	for _, m := range g.Members {
		if !m.Learner {
			n++
		}
	}
	return n
}

// started counts the voters that etcd takes for started.
func (g *Group) started() int {
	n := 0
	for _, m := range g.Members {
		if !m.Learner && (m.Founder || m.Published) {
			n++
		}
	}
	return n
}

// Quorum is how many of n voters must agree.
func Quorum(n int) int { return n/2 + 1 }

// running returns the disk that the member's server works on, nil if the member is down, or not connected to the others.
func (c *Cluster) running(group, member uint64) *Disk {
	for i := range c.Disks {
		d := &c.Disks[i]
		if d.Running && d.ClusterID == group && d.MemberID == member && c.connected(d) {
			return d
		}
	}
	return nil
}

// Data returns the member's data wherever it is, nil if there is none.
func (c *Cluster) Data(group, member uint64) *Disk {
	for i := range c.Disks {
		if d := &c.Disks[i]; d.ClusterID == group && d.MemberID == member {
			return d
		}
	}
	return nil
}

// Running reports whether the member's server runs, and is connected to the others.
func (c *Cluster) Running(group, member uint64) bool { return c.running(group, member) != nil }

// runningVoters counts the voters whose servers run.
func (c *Cluster) runningVoters(g *Group) int {
	n := 0
	for _, m := range g.Members {
		if !m.Learner && c.Running(g.ID, m.ID) {
			n++
		}
	}
	return n
}

// settle lets servers stop that were removed, elects a leader where a quorum runs and brings its followers in sync.
func (c *Cluster) settle() {
	for i := range c.Disks {
		d := &c.Disks[i]
		if g := c.Group(d.ClusterID); d.Running && (d.Torn || g == nil || g.Member(d.MemberID) == nil) {
			d.Running = false
		}
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		if c.runningVoters(g) < Quorum(g.Voters()) {
			g.Leader = 0
			continue
		}
		c.elect(g)
		for _, m := range g.Members {
			if d := c.running(g.ID, m.ID); d != nil && !m.Learner {
				d.Synced = true
			}
		}
	}
	c.schemas()
}

// elect keeps the leader while it runs and votes; otherwise the first running voter that knows everything follows it.
func (c *Cluster) elect(g *Group) {
	if m := g.Member(g.Leader); m != nil && !m.Learner && c.Running(g.ID, m.ID) {
		return
	}
	defer c.probe(g)
	g.Leader = 0
	for _, m := range g.Members {
		d := c.running(g.ID, m.ID)
		if d == nil || m.Learner {
			continue
		}
		if d.Synced {
			g.Leader = m.ID
			return
		}
		if g.Leader == 0 {
			g.Leader = m.ID
		}
	}
	if g.Written {
		c.harm("a quorum of cluster %x formed without any of the acknowledged data", g.ID)
	}
}

// probe is what a new leader does first: it learns how far each running member is and forgets about the others.
func (c *Cluster) probe(g *Group) {
	for i := range g.Members {
		d := c.running(g.ID, g.Members[i].ID)
		g.Members[i].Matched = g.Members[i].Learner && d != nil && d.Synced
	}
}

// commit records that a quorum has agreed on something: who does not run now misses it.
func (c *Cluster) commit(g *Group) {
	for i := range c.Disks {
		if d := &c.Disks[i]; d.ClusterID == g.ID && !d.Running {
			d.Synced = false
		}
	}
}

func (c *Cluster) harm(format string, args ...any) {
	if c.Harm == "" {
		c.Harm = fmt.Sprintf(format, args...)
	}
}
