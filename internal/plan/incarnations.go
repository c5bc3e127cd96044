package plan

// Incarnations are the numbers that were given to attempts at a start, from nothing or from a snapshot. None is given twice:
// tokens and cluster IDs follow from them.
type Incarnations struct {
	// Last is the highest that was ever given.
	Last int
	// FirstRestore is the lowest of those given to attempts at a restore of what the cluster holds, 0 if there was none. What was
	// made for one from there on, other than the present one, was given up.
	FirstRestore int
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
	ClusterID uint64 `json:",string"`
	// InitialPods are the pods that may start etcd with initial-cluster-state=new; empty until committed.
	InitialPods []InitialPod
	// Restore is the UID of the EtcdRestore whose snapshot the one first member starts from, empty for a start from nothing.
	Restore string
}

// InitialPod binds an initial member to the one pod (and volume) that may start it on an empty directory.
type InitialPod struct {
	Name      string
	PodUID    string
	VolumeUID string
}

// last is the highest number that is known to have been given.
func (r Record) last() int {
	if b := r.Bootstrap; b != nil {
		return max(r.Incarnations.Last, b.Incarnation)
	}
	return r.Incarnations.Last
}

// lastIncarnation is the highest number that is known to have been given, by status or by what is there.
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

// Current tells whether something that was made for an incarnation belongs to the present one. What is of a later one than
// this view knows of is news to it, and nothing that was abandoned.
func (r Record) Current(incarnation int) bool {
	switch {
	case incarnation > r.last():
		return true
	case r.Bootstrap != nil:
		return incarnation == r.Bootstrap.Incarnation
	}
	return r.Incarnations.FirstRestore == 0 || incarnation < r.Incarnations.FirstRestore
}

// CurrentPod tells whether a pod is of the present incarnation: by its label, or because it was let start as a member of the
// cluster that is there. Labels are edited by hand, and no other incarnation has that cluster ID.
func (r Record) CurrentPod(p Pod) bool {
	return r.Current(p.Incarnation) || p.Permit != nil && r.present(uint64(p.Permit.ClusterID))
}

// currentVolume tells the same of a volume, by whose data it says that it holds.
func (r Record) currentVolume(c Volume) bool {
	return r.Current(c.Incarnation) || r.present(c.ClusterID)
}

// present tells whether this is the cluster ID that was latched.
func (r Record) present(id uint64) bool { return id != 0 && id == r.ID }

// canceled tells whether an incarnation was an attempt at a restore that was called off or given up.
func (r Record) canceled(incarnation int) bool {
	first := r.Incarnations.FirstRestore
	return first != 0 && incarnation >= first && !r.Current(incarnation)
}

// replaces tells whether something that was made for an incarnation belongs to the cluster that a restore under way replaces.
func (r Record) replaces(incarnation int) bool {
	if r.Previous == nil || incarnation >= r.Incarnations.FirstRestore {
		return false
	}
	return r.Previous.Bootstrap == nil || incarnation == r.Previous.Bootstrap.Incarnation
}

// begun is what Incarnations become when that attempt is committed.
func (r Record) begun(next Bootstrap) Incarnations {
	n := Incarnations{Last: max(r.last(), next.Incarnation), FirstRestore: r.Incarnations.FirstRestore}
	settled := n.FirstRestore == 0 || r.Bootstrap != nil && r.Bootstrap.Incarnation >= n.FirstRestore
	if next.Restore != "" && r.Previous == nil && settled {
		n.FirstRestore = next.Incarnation
	}
	return n
}

// nextIncarnation is higher than any that was given before, and than that of what was taken over from an earlier cluster.
func (v *view) nextIncarnation() int { return v.lastIncarnation() + 1 }
