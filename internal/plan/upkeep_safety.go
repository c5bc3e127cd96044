package plan

import (
	"cmp"
	"fmt"
	"time"
)

// againstDefragmenting is why a member must not be defragmented now, as the rest of a sentence; empty if it may be. It does not change
// while nothing is done about it.
func (v *view) againstDefragmenting(m Member) string {
	for _, other := range v.Etcd.Members {
		switch {
		case !v.database(other).Defragmenting.IsZero(): // for longer than it is waited for
			return other.Name + " is still being defragmented"
		case other.Learner && other.ID != m.ID:
		case !v.healthy(other) || !v.inSync(other):
			return other.Name + " is not healthy, or far behind the others"
		case !v.database(other).Known:
			return "the metrics of " + other.Name + " cannot be read, which tell whether a snapshot is read from it, or it is being defragmented"
		}
	}
	d := v.database(m)
	switch {
	case len(v.alarmed(AlarmCorrupt)) > 0:
		return "the members' data differs (alarm CORRUPT)"
	case v.Cluster.BackingUp != "":
		return v.Cluster.BackingUp + " is taking a snapshot, and a member that is defragmented meanwhile would serve nobody until that is over"
	case d.Copied:
		return "a snapshot is read from it: it would serve nobody until that is over"
	case len(v.voters) <= alone && !m.Learner && v.TargetSize > alone:
		return fmt.Sprintf("the cluster has no quorum without it: that waits until the cluster has %d voters", v.TargetSize)
	case len(v.voters) <= alone && !m.Learner && !v.pausesOnly(m):
		return fmt.Sprintf("the cluster has no quorum without it, and it would pause for more than %s", patientPause)
	}
	return v.withoutRoom(m)
}

// withoutRoom is why a copy of what is in use may not fit beside the database; empty if it does, or if nothing is known of its disk and the
// others can do without the member. A tenth is left to the file system, and to what else counts.
func (v *view) withoutRoom(m Member) string {
	p, room := v.pods[m.Name], v.volumes[m.Name].room()
	if !p.Persistent {
		room = p.StorageLimit
	}
	a, _ := v.answer(m)
	fits := room == 0 || room-room/tenth-a.DBSize-walRoom >= a.DBSizeInUse
	switch {
	case p.Persistent && v.volumes[m.Name].Expanding:
		return "its volume is being expanded"
	case p.Persistent && !fits:
		return "its volume may have no room for the copy that etcd writes beside the database: give the members larger volumes"
	case !fits:
		return "the kubelet may evict it, with its data, for the copy that etcd writes beside the database: raise " +
			"spec.pod.resources.limits.ephemeral-storage"
	case !p.Persistent && room == 0 && len(v.voters) <= alone:
		return "the kubelet may evict it, with data that the cluster cannot do without, for the copy that etcd writes beside the database, and " +
			"how much room there is nobody knows: set spec.pod.resources.limits.ephemeral-storage, or do it by hand (kubectl etcd defrag)"
	}
	return ""
}

// pausesOnly reports whether a voter without which there is no quorum may be defragmented all the same: the cluster is to have no more, all
// of them are healthy, etcd takes no writes anyway, and it is back before long.
func (v *view) pausesOnly(m Member) bool {
	return len(v.voters) <= alone && v.TargetSize <= alone && len(v.alarmed(AlarmNoSpace)) > 0 && v.healthyVoters("") == len(v.voters) && v.pause(m) <= patientPause
}

// pause is how long a defragmentation of the member is expected to take: it copies what is in use.
func (v *view) pause(m Member) time.Duration {
	a, _ := v.answer(m)
	rate := float64(cmp.Or(v.Etcd.DefragmentRate, defaultRate))
	return time.Duration(float64(a.DBSizeInUse) / rate * float64(time.Second))
}
