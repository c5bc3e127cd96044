package plan

import "slices"

// keeps reports whether a volume of the cluster is the user's to delete, and nobody's to use: what a restore has replaced, unless
// the user said that nothing of it needs to be saved, and what an attempt at one that was given up was let write to. A volume on
// which etcd was never let start holds nothing.
func (r Record) keeps(c Volume) bool {
	switch {
	case slices.Contains(r.KeptUIDs, c.UID):
		return true
	case c.MemberID == 0 || r.currentVolume(c):
		return false
	}
	return r.canceled(c.Incarnation) || r.ID != 0 && !r.SafetySkipped
}

// keeping are the UIDs of the volumes to keep by now: those that are kept already and are there still, and those that are to be.
// They are noted, for what says so of them changes with the next restore.
func (r Record) keeping(o Observed) []string {
	kept := slices.DeleteFunc(slices.Clone(r.KeptUIDs), func(uid string) bool {
		return !slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.UID == uid })
	})
	return withThose(kept, o.Volumes, r.keeps)
}

// withThose adds to the UIDs those of the cluster's own volumes that are to be kept, too, and are not going.
func withThose(kept []string, volumes []Volume, keep func(Volume) bool) []string {
	for _, c := range volumes {
		if c.Owned && c.Foreign == "" && !c.Deleting && !slices.Contains(kept, c.UID) && keep(c) {
			kept = append(kept, c.UID)
		}
	}
	return kept
}

// keepUnknown adds to what is kept what is not known to be of the cluster that the restore under way replaces, though nothing of
// that needs to be saved: what an earlier restore has replaced, say, where the status was lost since.
func (r Record) keepUnknown(volumes []Volume) []string {
	kept := slices.Clone(r.KeptUIDs)
	if r.Previous == nil || !r.SafetySkipped {
		return kept
	}
	return withThose(kept, volumes, func(c Volume) bool {
		return c.MemberID != 0 && c.ClusterID != r.Previous.ExpectedID() && !r.currentVolume(c)
	})
}

// toKeep are the names of the volumes that are kept from the recording of the cluster ID on.
func (v *view) toKeep(id uint64) []string {
	next := v.Cluster.Record
	next.KeptUIDs, next.ID = next.keepUnknown(v.previousVolumes), id
	var names []string
	for _, c := range v.previousVolumes {
		if !c.Deleting && next.keeps(c) {
			names = append(names, c.Name)
		}
	}
	return names
}
