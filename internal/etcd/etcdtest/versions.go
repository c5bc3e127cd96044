package etcdtest

import "errors"

// ErrBadDowngrade is "invalid downgrade target version", or "cluster has a downgrade job in progress".
var ErrBadDowngrade = errors.New("not a downgrade that etcd takes")

// RunsVersion notes the minor version of the server that works on the directory. The first one decides that of its cluster.
func (c *Cluster) RunsVersion(dir string, minor int) {
	d := c.Disk(dir)
	if d == nil || !d.Running {
		return
	}
	d.Version = minor
	d.Old = d.Old || minor == 5
	if g := c.Group(d.ClusterID); g != nil && (g.Version == 0 || minor < g.Version && g.Leader == 0) {
		g.Version = minor
	}
	c.schemas()
}

// schemas lets the data of every server that is in touch with the leader follow the cluster's version.
func (c *Cluster) schemas() {
	for i := range c.Disks {
		d := &c.Disks[i]
		if g := c.Group(d.ClusterID); d.Running && g != nil && (g.Leader != 0 || d.Schema == 0) {
			lowered := d.Version >= 6 && g.Version < d.Schema // which etcd 3.6 writes a snapshot for, out of turn
			d.Schema, d.Old = g.Version, d.Old && !lowered
		}
	}
}

// Compatible reports whether a server of that minor version may join: none below the cluster's, and while a downgrade is
// enabled none at all (allowedVersionRange in etcd's server).
func (c *Cluster) Compatible(clusterID uint64, minor int) bool {
	g := c.Group(clusterID)
	return g == nil || g.Downgrade == 0 && minor >= g.Version
}

// EnableDowngrade tells the cluster to go down to the minor version below its own.
func (c *Cluster) EnableDowngrade(clusterID uint64, minor int) error {
	g, err := c.leading(clusterID)
	if err != nil {
		return err
	}
	if g.Downgrade != 0 || minor != g.Version-1 {
		return ErrBadDowngrade
	}
	g.Downgrade = minor
	c.commit(g)
	return nil
}

// CancelDowngrade takes that back.
func (c *Cluster) CancelDowngrade(clusterID uint64) error {
	g, err := c.leading(clusterID)
	if err != nil {
		return err
	}
	if g.Downgrade == 0 {
		return ErrBadDowngrade
	}
	g.Downgrade = 0
	c.commit(g)
	return nil
}

// decided is the version that the leader would give the cluster and whether a downgrade is over (Monitor in etcd's
// server): nothing changes while a member's version is unknown, and it never goes down but for a downgrade.
func (c *Cluster) decided(g *Group) (version, downgrade int) {
	lowest, highest := 0, 0
	for _, m := range g.Members {
		d := c.running(g.ID, m.ID)
		if d == nil || d.Version == 0 {
			return g.Version, g.Downgrade
		}
		if lowest == 0 || d.Version < lowest {
			lowest = d.Version
		}
		highest = max(highest, d.Version)
	}
	switch {
	case g.Downgrade == 0:
		return max(g.Version, lowest), 0
	case highest == g.Downgrade:
		return g.Downgrade, 0
	}
	return g.Downgrade, g.Downgrade
}

// VersionDue reports whether FollowVersion would change anything.
func (c *Cluster) VersionDue(clusterID uint64) bool {
	if !c.Read(clusterID) {
		return false
	}
	g := c.Group(clusterID)
	version, downgrade := c.decided(g)
	return version != g.Version || downgrade != g.Downgrade
}

// FollowVersion is what the leader does every few seconds: it compares the members' versions with the cluster's.
func (c *Cluster) FollowVersion(clusterID uint64) {
	if g := c.Group(clusterID); c.VersionDue(clusterID) {
		g.Version, g.Downgrade = c.decided(g)
		c.commit(g)
		c.schemas()
	}
}
