package plan

import (
	"slices"
	"time"
)

// Database is what is known of a member's database beyond its Answer. It is looked at only while Auto Pilot may have to do with it, see
// DatabasesDue, and while evictions are blocked: another process may have begun to defragment a member then.
type Database struct {
	Pod, PodUID string
	// Known is true if the member's metrics were read in this observation. Copied and Compacted are empty if they were not.
	Known bool
	// Defragmenting is since when the member was seen to be defragmented, zero if it is not: by a request of this process, or by its
	// metrics, whoever has asked for it. It serves nobody meanwhile, and may answer for its state all the same.
	Defragmenting time.Time `json:",omitzero"`
	// Copied is true while a snapshot of it is read, by a client or for another member.
	Copied bool `json:",omitempty"`
	// Compacted is the revision up to which the history of keys is gone.
	Compacted int64 `json:",omitempty"`
	// Removed is how many revisions of keys compactions have removed since the last defragmentation by this process, or since it looked
	// first. What is in use does not tell of all of that: etcd counts the pages that a commit has freed at the next one, and there is none
	// while nobody writes.
	Removed int64 `json:",omitempty"`
	// Rests is true if no compaction is freeing pages: from look to look, twice, nothing more was removed, and no less was in use.
	Rests bool `json:",omitempty"`
	// Last is how the last defragmentation of it by this process has ended; nil if there was none.
	Last *Defragmentation `json:",omitempty"`
}

// Defragmentation is how a defragmentation has ended.
type Defragmentation struct {
	At time.Time
	// Free is how many bytes of the file it has left free; of one that Failed, how many there were before it.
	Free   int64
	Failed bool `json:",omitempty"`
	// Vain is how many in a row, up to this one, have made the file less than a tenth smaller.
	Vain int `json:",omitempty"`
}

const (
	// defragmentLimit is how long a member may be seen to be defragmented: 8 GiB, the largest database that etcd recommends, at 5 MiB/s.
	// It is not waited for longer: a metric may be stuck, a member that hangs is not healthy anyway.
	defragmentLimit = 30 * time.Minute
	// defaultRate is how many bytes in use a member writes anew in a second, as long as none was measured: half of what a slow disk writes.
	defaultRate = 50 << 20
	// minFree is how much of a file has to be free for a defragmentation without need: less is used again before long.
	minFree = 100 << 20
	// tenth is the share of a file that has to be free, or of a quota that has to be left: see crowds.
	tenth = 10
)

// free is how many bytes of the file are not in use.
func (a Answer) free() int64 { return a.DBSize - a.DBSizeInUse }

// holey reports whether at least a tenth of the file is free: a defragmentation makes it that much smaller.
func (a Answer) holey() bool { return a.DBSize > 0 && a.free() >= a.DBSize/tenth }

// crowds reports whether less than a tenth of the quota is left beside the file. Of a quota of 0, which is unknown, that is not so.
func (a Answer) crowds(quota int64) bool { return quota > 0 && a.DBSize > quota-quota/tenth }

// fragmented reports whether a defragmentation is worth a pause although nothing needs it: half of the file is free, or the file is close
// to its quota, 0 if that is unknown, and holey.
func (a Answer) fragmented(quota int64) bool {
	const half, crowded = 2, 8
	return a.DBSizeInUse < a.DBSize/half && a.free() >= minFree || quota > 0 && a.DBSize > quota/tenth*crowded && a.holey()
}

// Tells reports whether the server tells of an alarm of that kind, whichever member's it is.
func (a Answer) Tells(kind AlarmKind) bool {
	return slices.ContainsFunc(a.Alarms, func(alarm Alarm) bool { return alarm.Kind == kind })
}

// quota is the member's own, or what the spec gives it: etcd 3.5 does not tell.
func (c Cluster) quota(a Answer) int64 {
	if a.Quota > 0 {
		return a.Quota
	}
	return c.Quota
}

// DatabasesDue reports whether the members' Databases have to be looked at, because one of them has no space, or could do with a
// defragmentation that may be done now, or is only advised; or because all members are to be stopped.
func DatabasesDue(o Observed) bool {
	c := o.Cluster
	if o.Etcd.Contact != ContactQuorum || c.Paused || c.Deleting {
		return false
	}
	if c.Hibernate || relocationDue(o) { // nobody is to be interrupted who takes a snapshot
		return true
	}
	return slices.ContainsFunc(o.Etcd.Answers, func(a Answer) bool {
		now := c.Autopilot.Defragment == ModeAdvise || c.Autopilot.Window.Open || !c.Autopilot.Window.Set
		mayDefragment := c.Autopilot.Defragment != ModeOff && now
		return c.Autopilot.NoSpace != ModeOff && a.Tells(AlarmNoSpace) || mayDefragment && a.fragmented(c.quota(a))
	})
}

// NearQuota reports whether a member is about to have no space, so that a look once a minute would find that late.
func NearQuota(o Observed) bool {
	return o.Cluster.Autopilot.NoSpace != ModeOff && slices.ContainsFunc(o.Etcd.Answers, func(a Answer) bool {
		return a.crowds(o.Cluster.quota(a))
	})
}

// EvictionsBlocked reports whether the budget is raised to disrupt a voter. It outlives the process that has raised it.
func EvictionsBlocked(o Observed) bool {
	return o.Budget.Exists && o.Budget.MinAvailable > MinAvailable(len(VotersOf(o.Etcd.Members)))
}

// database is that of a member's pod.
func (v *view) database(m Member) Database {
	p := v.pods[m.Name]
	i := slices.IndexFunc(v.Etcd.Databases, func(d Database) bool { return d.Pod == p.Name && d.PodUID == p.UID })
	if p.UID == "" || i < 0 {
		return Database{}
	}
	return v.Etcd.Databases[i]
}

// isDefragmented reports whether the member is being defragmented.
func (v *view) isDefragmented(m Member) bool {
	since := v.database(m).Defragmenting
	return !since.IsZero() && v.Now.Sub(since) < defragmentLimit
}

// defragmented is the member that is being defragmented, the zero Member if none is.
func (v *view) defragmented() Member {
	i := slices.IndexFunc(v.Etcd.Members, v.isDefragmented)
	if i < 0 {
		return Member{}
	}
	return v.Etcd.Members[i]
}
