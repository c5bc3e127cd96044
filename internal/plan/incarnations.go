package plan

// Incarnations are the numbers that were given to attempts at a start, from nothing or from a snapshot. None is given twice:
// tokens and cluster IDs follow from them.
type Incarnations struct {
	// Last is the highest that was ever given.
	Last int
	// Attempts is the lowest of those given to attempts at a restore of what the cluster holds, 0 if there was none. What was
	// made for one from there on, other than the present one, holds nobody's data.
	Attempts int
}

// Bootstrap is the write-ahead record of one attempt to start a cluster, from nothing or from a snapshot.
type Bootstrap struct {
	// Incarnation counts the attempts, from 1.
	Incarnation int
	// Token is the initial-cluster-token: the EtcdCluster's UID and the incarnation.
	Token string
	// Members are the names of the initial voters.
	Members []string
	// ClusterID follows from Token and the members' peer URLs.
	ClusterID uint64
	// Seats are the pods that may start etcd with initial-cluster-state=new; empty until committed.
	Seats []Seat
	// Restore is the UID of the EtcdRestore whose snapshot the one first member starts from, empty for a start from nothing.
	Restore string
}

// Seat binds an initial member to the one pod (and volume) that may start it on an empty directory.
type Seat struct {
	Name      string
	PodUID    string
	VolumeUID string
}

// Former is the cluster that a restore under way replaces, as far as a decision depends on it.
type Former struct {
	// ID is its cluster ID, 0 if it had never been up.
	ID uint64
	// Bootstrap is the record of its first start, nil if it was adopted or had not begun.
	Bootstrap *Bootstrap
	// Voters are the names of those who voted when the restore began, empty if nobody had written them down; NextVoters those
	// after a change that was declared and may or may not have been made.
	Voters, NextVoters []string
}

// last is the highest number that is known to have been given.
func (c Cluster) last() int {
	if b := c.Bootstrap; b != nil {
		return max(c.Incarnations.Last, b.Incarnation)
	}
	return c.Incarnations.Last
}

// Current tells whether something that was made for an incarnation belongs to the present one. What is of a later one than
// this view knows of is news to it, and nothing that was abandoned.
func (c Cluster) Current(incarnation int) bool {
	switch {
	case incarnation > c.last():
		return true
	case c.Bootstrap != nil:
		return incarnation == c.Bootstrap.Incarnation
	}
	return c.Incarnations.Attempts == 0 || incarnation < c.Incarnations.Attempts
}

// attempted tells whether an incarnation was an attempt at a restore that was called off or given up.
func (c Cluster) attempted(incarnation int) bool {
	first := c.Incarnations.Attempts
	return first != 0 && incarnation >= first && !c.Current(incarnation)
}

// replaces tells whether something that was made for an incarnation belongs to the cluster that a restore under way replaces.
func (c Cluster) replaces(incarnation int) bool {
	if c.Former == nil || incarnation >= c.Incarnations.Attempts {
		return false
	}
	return c.Former.Bootstrap == nil || incarnation == c.Former.Bootstrap.Incarnation
}

// Begun is what Incarnations become when that attempt is committed.
func (c Cluster) Begun(next Bootstrap) Incarnations {
	n := Incarnations{Last: max(c.last(), next.Incarnation), Attempts: c.Incarnations.Attempts}
	settled := n.Attempts == 0 || c.Bootstrap != nil && c.Bootstrap.Incarnation >= n.Attempts
	if next.Restore != "" && c.Former == nil && settled {
		n.Attempts = next.Incarnation
	}
	return n
}
