package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Tuned are options for etcd that Auto Pilot has changed. They count as long as the spec has what they were changed from: what a user
// writes last wins.
type Tuned struct {
	// Quota is etcd's, in bytes, instead of InsteadOf, which is the spec's.
	Quota, InsteadOf int64
}

const (
	// defaultMaxQuota is the largest database that etcd recommends (maxQuotaSize in its package storage): 8 GiB.
	defaultMaxQuota = 8 << 30
	// quotaStep is what quotas are multiples of that Auto Pilot chooses.
	quotaStep = 16 << 20
	// beside is what a volume has to have beside twice the quota, for a snapshot or the copy of a defragmentation and the log.
	beside = 1 << 30
)

// growQuota has etcd be given a higher quota. It restarts members one after the other, as any update, so it comes last.
func growQuota(v *view) Action { return v.Tuning }

// tuning raises the quota by half once more than four fifths of it are in use, while all is calm: keys that are there take room, and free
// pages do not count, because they are used again. A restart of each member is the price, so it is done rarely. Once etcd takes no writes, and
// no room can be made, it is done at once.
func (v *view) tuning() Action {
	mode, m, exhausted := v.Cluster.Autopilot.Grow, v.fullest(), v.exhausted()
	if mode == ModeOff || m.ID == 0 || len(v.Alarms) > 0 && !exhausted || v.Quarantined.ID != 0 || v.Defragmented.ID != 0 || !v.calm() {
		return nil
	}
	a, _ := v.answer(m)
	quota, next := v.Cluster.Quota, v.nextQuota()
	if quota <= 0 || a.DBSizeInUse <= quota/tenth*8 {
		return nil
	}
	held := func(reason, why string) Action {
		v.held(FeatureQuota, reason, fmt.Sprintf("more than four fifths of etcd's quota (%s) are in use, and it is not raised: %s", mebibytes(quota), why))
		return nil
	}
	switch why := v.againstGrowing(next); {
	case next <= quota:
		return held(v1beta2.ReasonQuotaHeld, "it is at spec.autopilot.quota.max; delete keys, or raise that")
	case why != "":
		return held(v1beta2.ReasonQuotaHeld, why)
	case mode == ModeAdvise:
		return held(v1beta2.ReasonAutopilotAdvises, "with mode On it would be "+mebibytes(next))
	case !exhausted && v.Cluster.Autopilot.Window.Set && !v.Cluster.Autopilot.Window.Open:
		return held(v1beta2.ReasonWaitingForWindow, "that waits for the maintenance window")
	case !exhausted && !v.MayDisturb:
		return held(v1beta2.ReasonWaitingForBrake, "that waits until fewer clusters are disturbed")
	}
	return CommitTuning{Tuned: Tuned{Quota: next, InsteadOf: v.Cluster.SpecQuota}, From: quota, Member: m.Name}
}

// exhausted reports whether etcd takes no writes, for no other reason than a quota that is full, and no room can be made.
func (v *view) exhausted() bool {
	return len(v.alarmed(AlarmCorrupt)) == 0 && slices.ContainsFunc(v.Held, func(h HeldAct) bool {
		return h.Feature == FeatureNoSpace && h.Reason == v1beta2.ReasonSpaceExhausted
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
	next := (v.Cluster.Quota + v.Cluster.Quota/2 + quotaStep - 1) / quotaStep * quotaStep
	return min(next, v.Cluster.Autopilot.MaxQuota)
}

// adoptedQuota is the quota that members of a cluster run with whose status was lost, if Auto Pilot may have raised it. No more is believed than
// it may be raised to. Members before etcd 3.6 do not tell.
func (o Observed) adoptedQuota(cluster uint64) Tuned {
	told := int64(0)
	for _, a := range o.Etcd.Answers {
		if a.ClusterID == cluster {
			told = max(told, a.Quota)
		}
	}
	told = min(told, o.Cluster.Autopilot.MaxQuota)
	if o.Cluster.Autopilot.Grow == ModeOff || o.Cluster.SpecQuota <= 0 || told <= o.Cluster.SpecQuota {
		return Tuned{}
	}
	return Tuned{Quota: told, InsteadOf: o.Cluster.SpecQuota}
}

// againstGrowing is why the members' disks may not have room for databases of that size; empty if they have.
func (v *view) againstGrowing(next int64) string {
	need := 2*next + beside
	for _, m := range v.voters {
		p, c := v.pods[m.Name], v.volumes[m.Name]
		switch {
		case p.Persistent && c.Expanding: // the room that was asked for is not there yet, and may never be
			return "the volume of " + m.Name + " is being expanded"
		case p.Persistent && c.Requested > 0 && c.Requested < need:
			return fmt.Sprintf("with %s the members' volumes would have to have %s or more: "+
				"spec.pod.persistentVolumeClaimSpec.resources.requests.storage", mebibytes(next), mebibytes(need))
		case !p.Persistent && p.StorageLimit < need: // a node that runs out of disk evicts pods, perhaps all of the members'
			return fmt.Sprintf("with %s spec.pod.resources.limits.ephemeral-storage would have to be %s or more", mebibytes(next), mebibytes(need))
		}
	}
	return ""
}
