package plan

import (
	"fmt"
	"time"
)

// Safety is what an EtcdRestore has saved of the cluster whose data it replaces.
type Safety struct {
	// UnsavedReason is why it could not save it, empty if it could, or did not have to.
	UnsavedReason string
	// Skipped is true if the user said that nothing needs to be saved.
	Skipped bool
	// Stale is true if the safety snapshot was taken without a quorum: the cluster may have gone on without whoever gave it.
	Stale bool
	// Revision is what the safety snapshot holds at least, 0 if there is none; Ended is when it was complete, zero if nobody
	// has noted that.
	Revision    int64
	CompletedAt time.Time
}

// SafetyAge is how old a safety snapshot may be when its restore begins: what is older is taken once more, as far as clients go
// on writing.
const SafetyAge = 5 * time.Minute

// safetySnapshotExpired has what is to be replaced saved once more: something has kept the restore from beginning.
func (v *view) safetySnapshotExpired() bool {
	s := v.Cluster.Safety
	return v.Cluster.Previous == nil && s.Revision != 0 && !s.CompletedAt.IsZero() && v.Now.Sub(s.CompletedAt) > SafetyAge
}

// unsavedReason says why something that was acknowledged may be in no safety snapshot as it is replaced, empty if nothing is known
// to be missing, or if the user said that it does not matter. It is what people are told, and decides nothing: clients may write
// until the last member has stopped, and what they do then no server tells of.
func (v *view) unsavedReason() string {
	saved := v.Cluster.Safety
	switch {
	case saved.UnsavedReason != "":
		return saved.UnsavedReason
	case saved.Skipped:
		return ""
	case v.Cluster.Previous != nil && v.Cluster.SafetySkipped:
		return "the restore whose place this one takes did not have to save it"
	case v.Cluster.Previous != nil: // what there was to say of it was said as that one began
		return ""
	case v.Cluster.ID == 0 && v.mayHoldData():
		return "it is not known which etcd cluster the data is of, so that no snapshot is known to hold all of it"
	case v.Cluster.ID == 0:
		return ""
	case saved.Stale:
		return "the safety snapshot may be old: no quorum stood behind it"
	case saved.Revision == 0:
		return "there is no safety snapshot of it"
	case v.Etcd.Contact != ContactQuorum || v.Etcd.ClusterID != v.Cluster.ID || v.Etcd.Revision == 0:
		return fmt.Sprintf("no quorum has told whether anybody has written after the safety snapshot, of revision %d", saved.Revision)
	case v.Etcd.Revision > saved.Revision:
		return fmt.Sprintf("it has come to revision %d, and the safety snapshot is of %d", v.Etcd.Revision, saved.Revision)
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
