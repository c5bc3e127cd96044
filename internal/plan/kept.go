package plan

import "slices"

// keeps reports whether a volume is kept: etcd was permitted to start on it, it is not the current cluster's, and
// safetySnapshot: Skip does not release it.
func (r Record) keeps(c Volume) bool {
	switch {
	case slices.Contains(r.KeptUIDs, c.UID):
		return true
	case c.MemberID == 0 || r.currentVolume(c):
		return false
	}
	return r.abandoned(c.Incarnation) || r.ID != 0 && !r.released(c)
}

// released reports whether a volume need not be kept: its annotation names the cluster that a restore with safetySnapshot: Skip
// has replaced, and it is not that of a quarantined member.
func (r Record) released(c Volume) bool {
	return r.SafetySkipped && !c.Quarantined && c.ClusterID != 0 && c.ClusterID == r.ReplacedID
}

// keeping returns the UIDs of the volumes to keep from now on. They are recorded, because what keeps follows from changes with the
// next restore.
func (r Record) keeping(o Observed) []string {
	kept := slices.DeleteFunc(slices.Clone(r.KeptUIDs), func(uid string) bool {
		return !slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.UID == uid })
	})
	for _, c := range o.Volumes {
		if c.Owned && c.Foreign == "" && !c.Deleting && !slices.Contains(kept, c.UID) && (r.keeps(c) || o.evidence(c)) {
			kept = append(kept, c.UID)
		}
	}
	return kept
}

// toKeep returns the names of the volumes that are kept once the cluster ID is recorded.
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
