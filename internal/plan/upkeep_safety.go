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
	case len(v.voters) <= alone && !m.Learner && !v.pausesOnly(m):
		return fmt.Sprintf("the cluster has no quorum without it, and it would pause for more than %s", patientPause)
	}
	return v.withoutRoom(m)
}

// withoutRoom is why a copy of what is in use may not fit beside the database; empty if it does, or if nothing is known of its disk: an
// emptyDir has what its node has, and the kubelet sees to that.
func (v *view) withoutRoom(m Member) string {
	c, persistent := v.volumes[m.Name], v.pods[m.Name].Persistent
	a, _ := v.answer(m)
	switch {
	case !persistent || c.Requested == 0:
		return ""
	case c.Expanding:
		return "its volume is being expanded"
	case c.Requested-a.DBSize-walRoom < a.DBSizeInUse:
		return "its volume may have no room for the copy that etcd writes beside the database: give the members larger volumes"
	}
	return ""
}

// pausesOnly reports whether a voter without which there is no quorum may be defragmented all the same: all voters are healthy, etcd takes
// no writes anyway, and it is back before long.
func (v *view) pausesOnly(m Member) bool {
	return len(v.voters) <= alone && len(v.alarmed(AlarmNoSpace)) > 0 && v.healthyVoters("") == len(v.voters) && v.pause(m) <= patientPause
}

// pause is how long a defragmentation of the member is expected to take: it copies what is in use.
func (v *view) pause(m Member) time.Duration {
	a, _ := v.answer(m)
	rate := float64(cmp.Or(v.Etcd.DefragmentRate, defaultRate))
	return time.Duration(float64(a.DBSizeInUse) / rate * float64(time.Second))
}
