package etcdtest

// Restore makes a data directory of a snapshot, as etcdutl does: the data of a cluster with that one member, which has yet to
// start. The directory must be empty.
func (c *Cluster) Restore(dir string, clusterID uint64, m Member) {
	if c.Group(clusterID) == nil {
		m.Founder, m.Remembers = true, true
		c.Groups = append(c.Groups, Group{ID: clusterID, Members: []Member{m}})
	}
	c.Disks = append(c.Disks, Disk{Dir: dir, ClusterID: clusterID, MemberID: m.ID, Synced: true})
}
