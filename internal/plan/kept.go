package plan

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// keeps tells whether a volume of the cluster is the user's to delete, and nobody's to use: all that etcd was ever let start on and
// that is not the present cluster's, but for what is let go.
func (r Record) keeps(c Volume) bool {
	switch {
	case slices.Contains(r.Kept, c.UID):
		return true
	case c.MemberID == 0 || r.currentVolume(c):
		return false
	}
	return r.attempted(c.Incarnation) || r.ID != 0 && !r.letsGo(c)
}

// letsGo tells whether the volume says that it holds data of the very cluster of which the user said, of the restore that replaced
// it, that nothing needs to be saved.
func (r Record) letsGo(c Volume) bool {
	return r.Skipped && c.ClusterID != 0 && c.ClusterID == r.Replaced
}

// keeping are the UIDs of the volumes to keep by now: those that are kept already and are there still, and those that are to be.
// They are noted, for what says so of them changes with the next restore.
func (r Record) keeping(o Observed) []string {
	kept := slices.DeleteFunc(slices.Clone(r.Kept), func(uid string) bool {
		return !slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.UID == uid })
	})
	for _, c := range o.Volumes {
		if c.Owned && c.Foreign == "" && !c.Deleting && !slices.Contains(kept, c.UID) && r.keeps(c) {
			kept = append(kept, c.UID)
		}
	}
	return kept
}

// toKeep are the names of the volumes that are kept from the latch on.
func (v *view) toKeep(id uint64) []string {
	next := v.Cluster.Record
	next.ID = id
	var names []string
	for _, c := range v.oldVolumes {
		if !c.Deleting && next.keeps(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// kept lets nothing be deleted that is kept, or that will be: as long as a restore is under way that is all that etcd was ever
// let start on.
func kept(v *view, a Action) Action {
	act, ok := a.(DeleteVolume)
	if !ok {
		return nil
	}
	data := slices.Clone(v.keptVolumes)
	if b := v.Cluster.Bootstrap; v.Cluster.ID == 0 && b != nil && b.Restore != "" {
		for _, c := range slices.Concat(v.Volumes, v.oldVolumes, v.triedVolumes) {
			if c.MemberID != 0 {
				data = append(data, c)
			}
		}
	}
	if !slices.ContainsFunc(data, func(c Volume) bool { return c.UID == act.UID }) {
		return nil
	}
	return Blocked{
		Reason:  v1beta2.ReasonRestored,
		Message: "claim " + act.Name + " holds what a restore has replaced, or begun: the operator does not delete it",
	}
}
