package plan

import (
	"fmt"
	"slices"
	"time"
)

// Safety is what an EtcdRestore has saved of the cluster whose data it replaces.
type Safety struct {
	// Unsaved is why it could not save it, empty if it could, or did not have to.
	Unsaved string
	// Skip is true if the user said that nothing needs to be saved.
	Skip bool
	// Stale is true if the safety snapshot was taken without a quorum: the cluster may have gone on without whoever gave it.
	Stale bool
	// Revision is what the safety snapshot holds at least, 0 if there is none; Ended is when it was complete, zero if nobody
	// has noted that.
	Revision int64
	Ended    time.Time
}

const (
	// SafetyAge is how old a safety snapshot may be when its restore begins: what is older is taken once more, as far as
	// clients go on writing.
	SafetyAge = 5 * time.Minute
	// stopTime is how long after the restore has begun the members that it replaces may have stopped. A revision that was
	// read as it began says nothing about later.
	stopTime = time.Minute
)

// tooOld has what is to be replaced saved once more: something has kept the restore from beginning.
func (v *view) tooOld() bool {
	s := v.Cluster.Safety
	return v.Cluster.Former == nil && s.Revision != 0 && !s.Ended.IsZero() && v.Now.Sub(s.Ended) > SafetyAge
}

// notSaved says why something that was acknowledged may be on the volumes that a restore replaces and in no safety snapshot,
// empty if that cannot be, or if the user said that it does not matter. Volumes go only if it is empty.
func (v *view) notSaved() string {
	saved := v.Cluster.Safety
	switch {
	case saved.Unsaved != "":
		return saved.Unsaved
	case saved.Skip || v.Cluster.Unsaved:
		return ""
	case v.Cluster.Skipped:
		return "the restore whose place this one takes did not have to save it"
	case v.Cluster.Former != nil:
		return v.wentOn()
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

// wentOn says why clients may have written to what a restore replaces after that has begun, empty if its members have stopped
// at once.
func (v *view) wentOn() string {
	if at := v.Cluster.Stopped; !at.IsZero() && at.Sub(v.Cluster.Since) <= stopTime {
		return ""
	}
	return fmt.Sprintf("its members were not seen to stop within %s, and may have been written to", stopTime)
}

// Stopped tells whether fewer of the members that a restore under way replaces have a pod than are needed to acknowledge a
// write. A pod that is told to stop counts until it is gone: its node may not have heard of that.
func Stopped(o Observed) bool {
	f := o.Cluster.Former
	if f == nil {
		return false
	}
	var running []string
	for _, p := range o.Pods {
		if p.Phase != Terminal && p.Permit != nil && o.Cluster.replaces(p.Incarnation) {
			running = append(running, p.Name)
		}
	}
	if len(f.Voters) == 0 {
		return len(running) == 0
	}
	for _, voters := range [][]string{f.Voters, f.NextVoters} {
		n := 0
		for _, name := range voters {
			if slices.Contains(running, name) {
				n++
			}
		}
		if len(voters) > 0 && n >= Quorum(len(voters)) {
			return false
		}
	}
	return true
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
