package plan

import "slices"

// keeps reports whether a volume of the cluster is the user's to delete and no member may use it: any on which etcd was ever
// started and that is not the present cluster's, except what is let go.
func (r Record) keeps(c Volume) bool {
	switch {
	case slices.Contains(r.KeptUIDs, c.UID):
		return true
	case c.MemberID == 0 || r.currentVolume(c):
		return false
	}
	return r.canceled(c.Incarnation) || r.ID != 0 && !r.letsGo(c)
}

// letsGo reports whether the volume's annotation names the very cluster that was replaced by a restore with safetySnapshot Skip.
func (r Record) letsGo(c Volume) bool {
	return r.SafetySkipped && c.ClusterID != 0 && c.ClusterID == r.ReplacedID
}

// keeping are the UIDs of the volumes to keep by now: those that are kept already and are there still, and those that are to be.
// They are noted, for what says so of them changes with the next restore.
func (r Record) keeping(o Observed) []string {
	kept := slices.DeleteFunc(slices.Clone(r.KeptUIDs), func(uid string) bool {
		return !slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.UID == uid })
	})
	for _, c := range o.Volumes {
		if c.Owned && c.Foreign == "" && !c.Deleting && !slices.Contains(kept, c.UID) && r.keeps(c) {
			kept = append(kept, c.UID)
		}
	}
	return kept
}

// toKeep are the names of the volumes that are kept from the recording of the cluster ID on.
func (v *view) toKeep(id uint64) []string {
	next := v.Cluster.Record
	next.ID = id
	var names []string
	for _, c := range v.previousVolumes {
		if !c.Deleting && next.keeps(c) {
			names = append(names, c.Name)
		}
	}
	return names
}
