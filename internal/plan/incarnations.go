package plan

// Incarnations are the numbers given to attempts to start, with an empty database or from a snapshot. No number is reused:
// tokens and cluster IDs are derived from them.
type Incarnations struct {
	// Last is the highest number ever given.
	Last int
	// FirstRestore is the lowest number given to an attempt at a restore of what the cluster holds, 0 if there was none. Objects
	// of an incarnation from there on, other than the current one, are of an abandoned attempt.
	FirstRestore int
}

// Bootstrap is the write-ahead record of an attempt to start a cluster, with an empty database or from a snapshot.
type Bootstrap struct {
	// Incarnation numbers the attempts, from 1.
	Incarnation int
	// Token is the initial-cluster-token: the EtcdCluster's UID and the incarnation.
	Token string
	// Members are the names of the initial voters.
	Members []string
	// ClusterID is derived from Token and the members' peer URLs.
	ClusterID uint64 `json:",string"`
	// InitialPods are the pods that may start etcd with initial-cluster-state=new; empty until committed.
	InitialPods []InitialPod
	// Restore is the UID of the EtcdRestore from whose snapshot the only initial member starts, empty for an empty database.
	Restore string
	// Recovery is true if that snapshot is a survivor's, taken without a quorum: whoever is silent may be serving clients.
	Recovery bool `json:",omitempty"`
}

// InitialPod binds an initial member to the one pod (and volume) that may start it with an empty data directory.
type InitialPod struct {
	Name      string
	PodUID    string
	VolumeUID string
}

// last returns the highest number that status knows of.
func (r Record) last() int {
	if b := r.Bootstrap; b != nil {
		return max(r.Incarnations.Last, b.Incarnation)
	}
	return r.Incarnations.Last
}

// lastIncarnation returns the highest number known from status or from existing objects.
func (o *Observed) lastIncarnation() int {
	n := o.Cluster.last()
	for _, p := range o.Pods {
		n = max(n, p.Incarnation)
	}
	for _, c := range o.Volumes {
		n = max(n, c.Incarnation)
	}
	return n
}

// Current reports whether an object of that incarnation belongs to the current one. An incarnation later than any that this
// record knows of is newer than the record, not abandoned.
func (r Record) Current(incarnation int) bool {
	switch {
	case incarnation > r.last():
		return true
	case r.Bootstrap != nil:
		return incarnation == r.Bootstrap.Incarnation
	}
	return r.Incarnations.FirstRestore == 0 || incarnation < r.Incarnations.FirstRestore
}

// CurrentPod reports whether a pod belongs to the current incarnation: by its label, or because it was permitted to start as a
// member of the current cluster. Users can edit labels, and no other incarnation has that cluster ID.
func (r Record) CurrentPod(p Pod) bool {
	return r.Current(p.Incarnation) || p.Permit != nil && r.present(uint64(p.Permit.ClusterID))
}

// currentVolume is the same for a volume, by the cluster ID that it is marked with.
func (r Record) currentVolume(c Volume) bool {
	return r.Current(c.Incarnation) || r.present(c.ClusterID)
}

// present reports whether this is the recorded cluster ID.
func (r Record) present(id uint64) bool { return id != 0 && id == r.ID }

// Resumes reports whether a member may be started again on a volume: one of the recorded cluster, or of the one that the restore in progress
// replaces.
func (r Record) Resumes(c Volume) bool {
	if c.MemberID == 0 || c.Lost || c.Foreign != "" {
		return false
	}
	return r.ID == 0 && r.Current(c.Incarnation) || r.present(c.ClusterID) || r.Previous != nil && r.Previous.present(c.ClusterID)
}

// abandoned reports whether an incarnation was an attempt at a restore that was canceled or abandoned.
func (r Record) abandoned(incarnation int) bool {
	first := r.Incarnations.FirstRestore
	return first != 0 && incarnation >= first && !r.Current(incarnation)
}

// replacedByRestore reports whether an object of that incarnation belongs to the cluster that the restore in progress replaces.
func (r Record) replacedByRestore(incarnation int) bool {
	if r.Previous == nil || incarnation >= r.Incarnations.FirstRestore {
		return false
	}
	return r.Previous.Bootstrap == nil || incarnation == r.Previous.Bootstrap.Incarnation
}

// incarnationsAfter returns the numbers once that attempt is committed.
func (r Record) incarnationsAfter(next Bootstrap) Incarnations {
	n := Incarnations{Last: max(r.last(), next.Incarnation), FirstRestore: r.Incarnations.FirstRestore}
	settled := n.FirstRestore == 0 || r.Bootstrap != nil && r.Bootstrap.Incarnation >= n.FirstRestore
	if next.Restore != "" && r.Previous == nil && settled {
		n.FirstRestore = next.Incarnation
	}
	return n
}

// nextIncarnation returns a number higher than any given before, and than those on objects taken over from an earlier cluster.
func (v *view) nextIncarnation() int { return v.lastIncarnation() + 1 }
