package plan

// Safety is what an EtcdRestore has saved of the cluster whose data it replaces.
type Safety struct {
	// Skip is true if the user said that nothing needs to be saved.
	Skip bool
	// Stale is true if the safety snapshot was taken without a quorum: the cluster may have gone on without whoever gave it.
	Stale bool
}

// notSaved says why something that was acknowledged may be on the volumes that a restore replaces and in no safety snapshot,
// empty if that cannot be, or if the user said that it does not matter. What one restore has stopped the next one replaces as
// the first one has found it.
func (v *view) notSaved() string {
	switch {
	case v.Cluster.Safety.Skip || v.Cluster.Former != nil:
		return ""
	case v.Cluster.ID == 0 && v.mayHoldData():
		return "it is not known which etcd cluster the data is of, so that no snapshot is known to hold all of it"
	case v.Cluster.Safety.Stale:
		return "the safety snapshot may be old: no quorum stood behind it"
	}
	return ""
}

// mayHoldData tells whether anybody was ever let write to a volume of the cluster's own, or in one of its pods.
func (v *view) mayHoldData() bool {
	for _, c := range v.Volumes {
		if c.Owned && c.MemberID != 0 {
			return true
		}
	}
	for _, p := range v.Pods {
		if p.Permit != nil {
			return true
		}
	}
	return false
}
