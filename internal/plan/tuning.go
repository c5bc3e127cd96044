package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Tuned are options for etcd, and its release, that Auto Pilot has changed. They count as long as the spec has what they were changed from:
// what a user writes last wins.
type Tuned struct {
	// Quota is etcd's, in bytes, instead of InsteadOf, which is the spec's.
	Quota, InsteadOf int64
	// Volume is what each claim requests, in bytes, instead of VolumeInsteadOf, which is the spec's.
	Volume, VolumeInsteadOf int64 `json:",omitempty"`
	// Resized is what the members request of CPU and memory.
	Resized Resized `json:",omitzero"`
	// Patch is the release of etcd that was chosen of the minor release in the spec.
	Patch Patch `json:",omitzero"`
}

// stillValid returns t without what the spec has changed for since Auto Pilot chose it, and without volumes that were called off. While the spec asks
// for no volumes, the size of those that there were is kept: some members may still be on them, and the spec may be turned back.
func (t Tuned) stillValid(o Observed) Tuned {
	if t.InsteadOf != o.Cluster.SpecQuota {
		t.Quota, t.InsteadOf = 0, 0
	}
	if size := o.Cluster.SpecVolumeSize; size != 0 && size != t.VolumeInsteadOf || t.volumeCalledOff(o) {
		t.Volume, t.VolumeInsteadOf = 0, 0
	}
	t.Patch, t.Resized = t.Patch.stillValid(o.Cluster.NewestPatch), t.Resized.stillValid(o)
	return t
}

// volumeCalledOff reports whether the members may not have volumes of that size any more, and none has: perhaps there is no storage for them.
func (t Tuned) volumeCalledOff(o Observed) bool {
	if a := o.Cluster.Autopilot; o.Cluster.Paused || a.Enlarge == ModeOn && t.Volume <= a.MaxVolume {
		return false
	}
	return !slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.Owned && c.MemberID != 0 && c.Requested > t.VolumeInsteadOf })
}

const (
	// defaultMaxQuota is the largest database that etcd recommends (maxQuotaSize in its package storage): 8 GiB.
	defaultMaxQuota = 8 << 30
	// quotaStep is what quotas are multiples of that Auto Pilot chooses.
	quotaStep = 16 << 20
	// beside is what a volume has to have beside twice the quota, for a snapshot or the copy of a defragmentation and the log.
	beside = 1 << 30
	// gibibyte is what the sizes of volumes are multiples of that Auto Pilot chooses.
	gibibyte = 1 << 30
)

// growQuota has etcd be given a higher quota. It restarts members one after the other, as any update, so it comes last.
func growQuota(v *view) Action { return v.Tuning }

// tuning raises the quota by half once more than four fifths of it are in use, while all is calm: keys that are there take room, and free
// pages do not count, because they are used again. A restart of each member is the price, so it is done rarely. Once etcd takes no writes, and
// no room can be made now, it is done at once.
func (v *view) tuning() Action {
	mode, m, exhausted := v.Cluster.Autopilot.Grow, v.fullest(), v.exhausted()
	if mode == ModeOff || m.ID == 0 || len(v.Alarms) > 0 && !exhausted || v.Quarantined.ID != 0 || v.Defragmented.ID != 0 ||
		!v.calm() && !(exhausted && v.quiet(0)) { // which cannot wait for the end of a trial
		return nil
	}
	a, _ := v.answer(m)
	quota, next := v.Cluster.Quota, v.nextQuota()
	if quota <= 0 || a.DBSizeInUse <= quota/tenth*8 {
		return nil
	}
	act := CommitTuning{Tuned: v.Cluster.Tuned, From: quota, Member: m.Name}
	why, enlarge := v.againstGrowing(next), v.largerVolumes(next)
	switch {
	case next <= quota:
		return v.notRaised("it is at spec.autopilot.quota.max; delete keys, or raise that")
	case enlarge > 0:
		act.Volume, act.VolumeInsteadOf, act.FromVolume = enlarge, v.Cluster.SpecVolumeSize, v.Cluster.VolumeSize
		return v.tune(act, FeatureVolume, "larger volumes are due, of "+failure.Mebibytes(enlarge)+", because etcd's quota is to be raised", exhausted)
	case why != "":
		return v.notRaised(why)
	}
	act.Quota, act.InsteadOf = next, v.Cluster.SpecQuota
	return v.tune(act, FeatureQuota, v.nearQuota()+", and a quota of "+failure.Mebibytes(next)+" is due", exhausted)
}

// nearQuota says why anything is tuned.
func (v *view) nearQuota() string {
	return "more than four fifths of etcd's quota (" + failure.Mebibytes(v.Cluster.Quota) + ") are in use"
}

// notRaised says why the quota is not raised.
func (v *view) notRaised(why string) Action {
	v.held(FeatureQuota, v1beta2.ReasonQuotaHeld, v.nearQuota()+", and it is not raised: "+why)
	return nil
}

// tune is the act of that feature, if it may be done now. What is due says what it is for.
func (v *view) tune(act Action, feature, due string, exhausted bool) Action {
	if window := v.Cluster.Autopilot.Window; !exhausted && window.Set && !window.Open && v.Cluster.Autopilot.Mode(feature) != ModeAdvise {
		v.held(feature, v1beta2.ReasonWaitingForWindow, due+": that waits for the maintenance window")
		return nil
	}
	return v.inTurn(act, feature, due, exhausted)
}

// inTurn is the same for what does not wait for the window.
func (v *view) inTurn(act Action, feature, due string, exhausted bool) Action {
	switch {
	case v.Cluster.Autopilot.Mode(feature) == ModeAdvise:
		v.held(feature, v1beta2.ReasonAutopilotAdvises, due+": with mode On that would be done")
	case !exhausted && !v.MayDisturb:
		v.held(feature, v1beta2.ReasonWaitingForBrake, due+": that waits until fewer clusters are disturbed")
	default:
		return act
	}
	return nil
}

// exhausted reports whether etcd takes no writes, for no other reason than a quota that is full, and no room can be made now. History that is too
// young to be given up counts as keys: a quota holds five minutes of it, or clients are refused for as long. It does not where it may be old, which a
// process that has just started does not know, nor while a snapshot is read, because the update that raises the quota would end that.
func (v *view) exhausted() bool {
	young := v.Etcd.PastRevision != 0 && v.Cluster.BackingUp == ""
	return len(v.alarmed(AlarmCorrupt)) == 0 && slices.ContainsFunc(v.Held, func(h HeldAct) bool {
		return h.Feature == FeatureNoSpace && (h.Reason == v1beta2.ReasonSpaceExhausted || young && h.Reason == v1beta2.ReasonMakingRoom)
	})
}

// fullest is the voter with most in use, the zero Member if one of them does not answer, or has another quota than it is to have.
func (v *view) fullest() (fullest Member) {
	most := int64(-1)
	for _, m := range v.voters {
		a, ok := v.answer(m)
		if !ok || a.Quota > 0 && a.Quota != v.Cluster.Quota {
			return Member{}
		}
		if a.DBSizeInUse > most {
			most, fullest = a.DBSizeInUse, m
		}
	}
	return fullest
}

// nextQuota is half as much more, and no more than allowed.
func (v *view) nextQuota() int64 {
	return min(roundUp(v.Cluster.Quota+v.Cluster.Quota/2, quotaStep), v.Cluster.Autopilot.MaxQuota)
}

// adoptedQuota is the quota that members of a cluster run with whose status was lost, if Auto Pilot may have raised it. No more is believed than
// it may be raised to. etcd tells from 3.6 on, and the pods whatever it is, and whether or not it answers.
func (o Observed) adoptedQuota(cluster uint64) Tuned {
	told := int64(0)
	for _, a := range o.Etcd.Answers {
		if a.ClusterID == cluster {
			told = max(told, a.Quota)
		}
	}
	for _, p := range o.Pods {
		if p.Permit != nil && uint64(p.Permit.ClusterID) == cluster && !p.Deleting {
			told = max(told, p.Quota)
		}
	}
	told = min(told, o.Cluster.Autopilot.MaxQuota)
	if o.Cluster.Autopilot.Grow == ModeOff || o.Cluster.SpecQuota <= 0 || told <= o.Cluster.SpecQuota {
		return Tuned{}
	}
	return Tuned{Quota: told, InsteadOf: o.Cluster.SpecQuota}
}

// adoptedVolume adds the size of volumes to what is adopted of a cluster whose status was lost, if Auto Pilot may have raised it: that of the
// largest volume of a member. No more is believed than it may be raised to.
func (o Observed) adoptedVolume(t Tuned) Tuned {
	largest, asked := int64(0), o.Cluster.SpecVolumeSize
	for _, c := range o.Volumes {
		if c.Owned && c.MemberID != 0 && !c.Deleting {
			largest = max(largest, c.Requested)
		}
	}
	if a := o.Cluster.Autopilot; a.Enlarge != ModeOff && asked > 0 && largest > asked && largest <= a.MaxVolume {
		t.Volume, t.VolumeInsteadOf = largest, asked
	}
	return t
}

// roundUp is the next multiple of a step.
func roundUp(n, step int64) int64 { return (n + step - 1) / step * step }

// roomFor is what a member's disk has to have for a database with that quota.
func roomFor(quota int64) int64 { return 2*quota + beside }

// largerVolumes is what the members' volumes are to request for a quota of that size, 0 if they have room, may not be made larger, or are
// being expanded already.
func (v *view) largerVolumes(quota int64) int64 {
	c, size := v.Cluster, roundUp(roomFor(quota), gibibyte)
	if !c.Persistent || c.Autopilot.Enlarge == ModeOff || c.VolumeSize <= 0 || c.VolumeSize >= roomFor(quota) || size > c.Autopilot.MaxVolume {
		return 0
	}
	if slices.ContainsFunc(v.Volumes, func(c Volume) bool { return c.Expanding }) {
		return 0
	}
	return size
}

// againstGrowing is why the members' disks may not have room for databases of that size; empty if they have.
func (v *view) againstGrowing(next int64) string {
	need := roomFor(next)
	for _, m := range v.voters {
		p, c := v.pods[m.Name], v.volumes[m.Name]
		switch {
		case p.Persistent && c.Expanding: // the room that was asked for is not there yet, and may never be
			return "the volume of " + m.Name + " is being expanded"
		case p.Persistent && c.Requested > 0 && c.room() < need:
			return fmt.Sprintf("with %s the members' volumes would have to have %s or more: "+
				"spec.pod.persistentVolumeClaimSpec.resources.requests.storage, or spec.autopilot.volume.max, up to which that is done by itself",
				failure.Mebibytes(next), failure.Mebibytes(need))
		case !p.Persistent && p.StorageLimit < need: // a node that runs out of disk evicts pods, perhaps all of the members'
			return fmt.Sprintf("with %s spec.pod.resources.limits.ephemeral-storage would have to be %s or more",
				failure.Mebibytes(next), failure.Mebibytes(need))
		}
	}
	return ""
}

// Begins is the feature that begins something with it, empty if it takes something back.
func (a CommitTuning) Begins() string {
	switch {
	case a.Because != "":
		return ""
	case a.FromVersion != "":
		return FeaturePatches
	case a.FromResources != (Resources{}):
		return FeatureResources
	case a.FromVolume > 0:
		return FeatureVolume
	}
	return FeatureQuota
}

func (a CommitTuning) describe() Description {
	switch {
	case a.FromVersion != "":
		return a.describePatch()
	case a.FromResources != (Resources{}):
		return a.describeResources()
	}
	if a.FromVolume > 0 {
		return Description{"CommitTuning", v1beta2.ReasonGrowingVolumes, fmt.Sprintf("giving the members volumes of %s instead of %s, because what is "+
			"in use of the database of %s is close to etcd's quota (%s), and a higher one needs them",
			failure.Mebibytes(a.Volume), failure.Mebibytes(a.FromVolume), a.Member, failure.Mebibytes(a.From))}
	}
	return Description{"CommitTuning", v1beta2.ReasonRaisingQuota, fmt.Sprintf("raising etcd's quota from %s to %s, because what is in use of the "+
		"database of %s is close to it: members are updated one after the other", failure.Mebibytes(a.From), failure.Mebibytes(a.Quota), a.Member)}
}
