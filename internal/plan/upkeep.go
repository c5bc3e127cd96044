package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Upkeep is what Auto Pilot does next about the members' databases.
type Upkeep struct {
	// Step is Compact, Defragment or Disarm, nil if none is due or it is held.
	Step Action
	// Member is whom Step defragments, the zero Member if it does not. It is not added to the client Service.
	Member Member
	// Soon is true while something is waited for that takes seconds.
	Soon bool
}

const (
	// alone is up to how many voters none can be spared: there is no quorum without it.
	alone = 2
	// walRoom is what etcd keeps on a member's disk beside the database: five segments of its log and the next one, of 64 MB each
	// (SegmentSizeBytes in its package wal, DefaultMaxWALFiles in embed).
	walRoom = 6 * 64_000_000
	// quickPause is how long a member may pause without a maintenance window, and patientPause how long one may that the others cannot do
	// without, while etcd takes no writes anyway.
	quickPause, patientPause = 2 * time.Second, 10 * time.Second
	// tidyEvery is how long a member is left alone after it was defragmented without need: what is free in its file may be what its load
	// frees and uses again every few minutes.
	tidyEvery = 24 * time.Hour
	// compactedApart is how long a member is left alone after it was defragmented, although compactions go on. It doubles with each
	// defragmentation in a row that was in vain, up to maxApart.
	compactedApart, maxApart = time.Minute, time.Hour
	// retryAfter is how long a member is left alone after its defragmentation has failed.
	retryAfter = 10 * time.Minute
	// maxRooms is how often within an hour room is made in a cluster: whoever uses it up that fast needs another cure.
	maxRooms = 6
)

// room is what makes room again where a database has reached its quota: defragmenting members whose files have free pages, giving up
// history so that others have, and disarming the alarm once every file is well below its quota. Below the quota is not enough, because the
// first write may raise the alarm again, and above it disarming is in vain.
func (v *view) room() Upkeep {
	full := v.alarmed(AlarmNoSpace)
	if len(full) == 0 || v.Cluster.Autopilot.NoSpace == ModeOff {
		return Upkeep{}
	}
	if len(v.alarmed(AlarmCorrupt)) > 0 { // etcd 3.5 serves keys of members that differ once NOSPACE is disarmed
		return v.held(FeatureNoSpace, v1beta2.ReasonDefragmentationHeld, noWrites+", and nothing is done about that while the members' data "+
			"differs (alarm CORRUPT)")
	}
	if v.Defragmented.ID != 0 {
		return Upkeep{Soon: true}
	}
	crowded, known := v.crowded()
	switch {
	case !known:
		return v.held(FeatureNoSpace, v1beta2.ReasonDefragmentationHeld, noWrites+", and there is room to be made: "+
			"that waits until all voters are healthy and their quotas are known")
	case v.Etcd.RoomMade >= maxRooms:
		return v.held(FeatureNoSpace, v1beta2.ReasonSpaceExhausted, fmt.Sprintf("%s, and room was made %d times within an hour and is used up "+
			"again: find the client that writes so much, or raise spec.etcd.quotaBackendBytes", noWrites, maxRooms))
	case len(crowded) == 0:
		return v.ifOn(FeatureNoSpace, v.Cluster.Autopilot.NoSpace, Upkeep{Step: Disarm{Alarm{AlarmNoSpace, full[0]}, v.namesOf(full[:1])}})
	}
	return v.roomIn(crowded)
}

// noWrites begins what is said of a cluster in which a database has reached its quota.
const noWrites = "etcd takes no writes (alarm NOSPACE)"

// roomIn makes room in the files of members. History is given up only where no file has pages that a defragmentation gives back: one that has
// failed is waited for.
func (v *view) roomIn(crowded []Member) Upkeep {
	for _, m := range crowded {
		if v.worthwhile(m) || v.compactedLately(m) {
			return v.defragmentFor(FeatureNoSpace, v.Cluster.Autopilot.NoSpace, v1beta2.ReasonMakingRoom, m)
		}
	}
	for _, m := range crowded {
		if v.failedLately(m) {
			return v.held(FeatureNoSpace, v1beta2.ReasonDefragmentationHeld, fmt.Sprintf("%s, and defragmenting %s has failed: the event says "+
				"why; it is tried again after %d minutes", noWrites, m.Name, int(retryAfter.Minutes())))
		}
	}
	return v.compaction(crowded)
}

// compaction gives up history for members whose files have no free pages.
func (v *view) compaction(crowded []Member) Upkeep {
	allowed := v.Cluster.Autopilot.Compact
	compacted, known := v.compacted()
	switch {
	case !known || slices.ContainsFunc(crowded, func(m Member) bool { return !v.database(m).Known }):
		return v.held(FeatureNoSpace, v1beta2.ReasonDefragmentationHeld, noWrites+", and nothing is done before the metrics of all members can "+
			"be read, which tell what was compacted")
	case allowed && v.Etcd.PastRevision > compacted:
		if why := v.againstDefragmenting(crowded[0]); why != "" {
			return v.heldBy(FeatureNoSpace, crowded[0], why)
		}
		return v.ifOn(FeatureNoSpace, v.Cluster.Autopilot.NoSpace, Upkeep{Step: Compact{Revision: v.Etcd.PastRevision}, Soon: true})
	case slices.ContainsFunc(crowded, func(m Member) bool { return !v.database(m).Rests }):
		return Upkeep{Soon: true}
	case allowed && v.Etcd.Revision > cmp.Or(v.Etcd.PastRevision, compacted):
		return v.held(FeatureNoSpace, v1beta2.ReasonMakingRoom, noWrites+", and nothing but the history of the last "+
			historyKept+" could be given up: it is once it is older than that; until then, deleting keys does not make room")
	}
	todo := "delete keys, or raise spec.etcd.quotaBackendBytes"
	if !allowed { // deleted keys stay in the history, which nobody gives up
		todo = "deleting keys makes no room before their history is compacted; raise spec.etcd.quotaBackendBytes, compact by hand, or set " +
			"spec.autopilot.noSpace.compaction to Allowed, which gives up the history of keys"
	}
	return v.held(FeatureNoSpace, v1beta2.ReasonSpaceExhausted, noWrites+", and what is in use fills the quota: "+todo)
}

// tidying gives free pages back to the disk where nothing needs it, while all is calm: of one member a day at most, never again before a
// tenth of its file is free beyond what the last time has left, and not in a cluster of one or two, whose clients would all wait.
func (v *view) tidying() Upkeep {
	mode, window := v.Cluster.Autopilot.Defragment, v.Cluster.Autopilot.Window
	if mode == ModeOff || len(v.Alarms) > 0 || len(v.voters) <= alone || !v.calm() {
		return Upkeep{}
	}
	due := slices.DeleteFunc(v.followersFirst(v.voters), func(m Member) bool { return !v.untidy(m) })
	if len(due) == 0 {
		return v.triedToday()
	}
	m := due[0]
	switch {
	case mode == ModeAdvise:
		return v.defragmentFor(FeatureDefragment, mode, v1beta2.ReasonDefragmenting, m)
	case window.Set && (!window.Open || v.Now.Add(v.pause(m)).After(window.Ends)):
		return v.held(FeatureDefragment, v1beta2.ReasonWaitingForWindow, v.freed(due)+": that waits for the maintenance window")
	case !window.Set && v.pause(m) > quickPause:
		return v.held(FeatureDefragment, v1beta2.ReasonWaitingForWindow, fmt.Sprintf("%s, and would have a member pause for more than %s: "+
			"set spec.maintenanceWindow to when that may be, or do it by hand (kubectl etcd defrag)", v.freed(due), quickPause))
	}
	if !v.MayDisturb {
		return v.held(FeatureDefragment, v1beta2.ReasonWaitingForBrake, v.freed(due)+": that waits until fewer clusters are disturbed")
	}
	return v.defragmentFor(FeatureDefragment, mode, v1beta2.ReasonDefragmenting, m)
}

// freed names the members of whose databases much is free.
func (v *view) freed(members []Member) string {
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return "defragmenting would give free pages back to the disk (" + list(names) + ")"
}

// calm reports whether nothing is under way or due that an update waits for, or that is an update.
func (v *view) calm() bool { return v.calmBut(0) }

// calmBut reports whether that is so of all members but the voter with that ID, which need not be healthy; 0 if all have to be.
func (v *view) calmBut(but uint64) bool { return v.OnTrial.Trial.Member == "" && v.quiet(but) }

// quiet is the same, but that a member may be trying a release.
func (v *view) quiet(but uint64) bool {
	return v.inProgress(but) == nil && !v.updating() && v.NextToRemove.ID == 0 && len(v.Candidates) == 0 && len(v.learners) == 0 &&
		len(v.voters) == v.TargetSize && v.waitForVoters(but) == nil
}

// untidy reports whether a defragmentation is worth a pause although nothing needs it.
func (v *view) untidy(m Member) bool {
	a, ok := v.answer(m)
	last := v.database(m).Last
	return ok && a.fragmented(v.Cluster.quota(a)) && (last == nil || v.worthwhile(m) && v.Now.Sub(last.At) >= tidyEvery)
}

// compactedLately reports whether a compaction has freed pages that are not counted yet, and no defragmentation has given them back. While
// somebody deletes keys, compactions go on: the more defragmentations in a row were in vain, the later is the next one.
func (v *view) compactedLately(m Member) bool {
	d := v.database(m)
	if d.Removed == 0 || d.Last == nil {
		return d.Removed > 0
	}
	apart := compactedApart
	for i := 0; i < d.Last.Vain && apart < maxApart; i++ {
		apart *= 2
	}
	return !v.failedLately(m) && v.Now.Sub(d.Last.At) >= min(apart, maxApart)
}

// failedLately reports whether the member's last defragmentation has failed, and is not to be repeated yet.
func (v *view) failedLately(m Member) bool {
	last := v.database(m).Last
	return last != nil && last.Failed && v.Now.Sub(last.At) < retryAfter
}

// worthwhile reports whether a defragmentation makes the member's file a tenth smaller. What the last one has left free does not count, so
// that none is repeated that frees nothing.
func (v *view) worthwhile(m Member) bool {
	a, ok := v.answer(m)
	last := v.database(m).Last
	switch {
	case !ok || !a.holey() || v.failedLately(m):
		return false
	case last == nil || last.Failed:
		return true
	}
	return a.free()-last.Free >= a.DBSize/tenth
}

// defragmentFor defragments a member unless that is not safe, or not wanted.
func (v *view) defragmentFor(feature string, mode Mode, reason string, m Member) Upkeep {
	if why := v.againstDefragmenting(m); why != "" {
		return v.heldBy(feature, m, why)
	}
	if feature == FeatureNoSpace && v.pods[m.Name].InService && !v.database(m).Rests { // once its clients have left, it is done
		return Upkeep{Soon: true}
	}
	a, _ := v.answer(m)
	const precision = 100 * time.Millisecond
	step := Defragment{
		ID: m.ID, Name: m.Name, UID: v.pods[m.Name].UID, Why: reason, Free: a.free(), Pause: max(v.pause(m).Round(precision), precision),
	}
	return v.ifOn(feature, mode, Upkeep{Step: step, Member: m})
}

// crowded are the members whose files are not well below their quotas, followers first. It is unknown while a voter is not healthy, or an
// update may give a member another quota than the one it has.
func (v *view) crowded() (members []Member, known bool) {
	for _, m := range v.followersFirst(v.Etcd.Members) {
		a, _ := v.answer(m)
		switch {
		case m.Learner && !v.healthy(m):
			continue
		case !v.healthy(m), a.Quota == 0 && v.change(m) != ChangeNone:
			return nil, false
		case a.crowds(v.Cluster.quota(a)):
			members = append(members, m)
		}
	}
	return members, true
}

// compacted is the revision up to which history is gone; unknown unless all voters tell.
func (v *view) compacted() (revision int64, known bool) {
	for _, m := range v.voters {
		d := v.database(m)
		if !d.Known {
			return 0, false
		}
		revision = max(revision, d.Compacted)
	}
	return revision, true
}

// followersFirst are members in the order in which they are defragmented: the leader last.
func (v *view) followersFirst(members []Member) []Member {
	return slices.SortedStableFunc(slices.Values(members), func(a, b Member) int {
		return toInt(a.ID == v.Leader) - toInt(b.ID == v.Leader)
	})
}

// ifOn is the step if the mode is On, and what would be done if it is Advise.
func (v *view) ifOn(feature string, mode Mode, u Upkeep) Upkeep {
	if mode == ModeOn {
		return u
	}
	return v.held(feature, v1beta2.ReasonAutopilotAdvises, "Auto Pilot would act, were its mode On: "+advice(u.Step))
}

// advice says what a step does, without numbers that change.
func advice(a Action) string {
	switch act := a.(type) {
	case Defragment:
		return "defragment " + act.Name
	case Compact:
		return "compact the history of keys that is older than " + historyKept
	case Disarm:
		return "disarm the alarm NOSPACE of " + act.Name + ", for every member has room again"
	default:
		return ""
	}
}

// heldBy holds the defragmentation of a member.
func (v *view) heldBy(feature string, m Member, why string) Upkeep {
	message := "defragmenting " + m.Name + " is due"
	if feature == FeatureNoSpace {
		message = noWrites + ", and " + message
	}
	return v.held(feature, v1beta2.ReasonDefragmentationHeld, message+", and held: "+why)
}

// held says what is due, and does nothing.
func (v *view) held(feature, reason, message string) Upkeep {
	v.Held = append(v.Held, HeldAct{Feature: feature, Reason: reason, Message: message})
	return Upkeep{}
}
