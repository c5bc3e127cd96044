package plan

import (
	"fmt"
	"time"
)

// Safety describes the safety snapshot that an EtcdRestore has taken of the data it replaces.
type Safety struct {
	// UnsavedReason is why it could not take one, empty if it could, or did not have to.
	UnsavedReason string
	// Skipped is true if the user chose safetySnapshot: Skip.
	Skipped bool
	// Asleep is true if none was taken because all members were stopped on purpose. Once they run again, there is somebody to ask.
	Asleep bool `json:",omitempty"`
	// Stale is true if the safety snapshot was taken without a quorum: the cluster may have been ahead of the member that it was
	// taken from.
	Stale bool
	// Revision is the least revision that the safety snapshot holds, 0 if there is none; CompletedAt is when it was complete,
	// zero if unknown.
	Revision    int64
	CompletedAt time.Time
}

// UnsavedAsleep is why nothing was saved of a cluster that hibernates.
const UnsavedAsleep = "all of its members are stopped (spec.hibernate)"

// SafetyAge is the maximum age of a safety snapshot when its restore begins. An older one is taken again, because clients
// continue to write.
const SafetyAge = 5 * time.Minute

// safetySnapshotExpired reports whether the safety snapshot has to be taken again, because something has delayed the restore. That of a
// recovery does not age: without a quorum nothing is written. Where none was taken of a cluster that hibernated, one is once it runs again.
func (v *view) safetySnapshotExpired() bool {
	s := v.Cluster.Safety
	if v.Cluster.Previous != nil || v.Cluster.RestorePlan != "" {
		return false
	}
	return s.Asleep && v.Cluster.Hibernation != Hibernated || s.Revision != 0 && !s.CompletedAt.IsZero() && v.Now.Sub(s.CompletedAt) > SafetyAge
}

// unsavedReason returns why acknowledged writes may be in no safety snapshot when the data is replaced, empty if none are known
// to be missing, or if the user chose to do without. It only informs: clients may write until the last member has stopped, and
// no server reports those writes.
func (v *view) unsavedReason() string {
	saved := v.Cluster.Safety
	switch {
	case saved.UnsavedReason != "":
		return saved.UnsavedReason
	case saved.Skipped:
		return ""
	case v.Cluster.Previous != nil && v.Cluster.SafetySkipped:
		return "the restore that this one supersedes took no safety snapshot of it"
	case v.Cluster.Previous != nil: // what there was to say of it was said as that one began
		return ""
	case v.Cluster.ID == 0 && v.mayHoldData():
		return "the data's cluster ID is unknown, so no snapshot is known to hold all of it"
	case v.Cluster.ID == 0:
		return ""
	case saved.Stale:
		return "the safety snapshot was taken without a quorum and may be stale"
	case saved.Revision == 0:
		return "there is no safety snapshot"
	case v.Etcd.Contact != ContactQuorum || v.Etcd.ClusterID != v.Cluster.ID || v.Etcd.Revision == 0:
		return fmt.Sprintf("no quorum could confirm that nothing was written after the safety snapshot (revision %d)", saved.Revision)
	case v.Etcd.Revision > saved.Revision:
		return fmt.Sprintf("it is at revision %d, and the safety snapshot is of revision %d", v.Etcd.Revision, saved.Revision)
	}
	return ""
}

// mayHoldData reports whether etcd was ever permitted to start on one of the cluster's volumes or in one of its pods.
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
