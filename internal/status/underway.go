package status

import (
	"cmp"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// unfinished is what Auto Pilot has begun and not all members have yet, at most one of each feature. What does not count any more, because it was
// given up or the spec says something else, is not under way either.
func unfinished(s *v1beta2.EtcdClusterStatus, in Input) (left []v1beta2.BegunAct) {
	begins, whole := begunBy(in), whole(in)
	if begins == "" && s.Quarantined != nil && !slices.ContainsFunc(begunIn(s), func(act v1beta2.BegunAct) bool { return act.Feature == plan.FeatureDiverged }) {
		begins = plan.FeatureDiverged // before status was lost
	}
	for _, act := range begunIn(s) {
		if act.Feature != begins && counts(s, act) && !(whole && reached(s, in, act)) {
			left = append(left, act)
		}
	}
	if to := aim(s, begins); to != "" {
		left = append(left, v1beta2.BegunAct{Feature: begins, To: to, Since: now(in.Observed)})
	}
	slices.SortFunc(left, func(a, b v1beta2.BegunAct) int { return cmp.Compare(a.Feature, b.Feature) })
	return left
}

func begunIn(s *v1beta2.EtcdClusterStatus) []v1beta2.BegunAct {
	if s.Autopilot == nil {
		return nil
	}
	return s.Autopilot.UnderWay
}

// begunBy is the feature that this pass has begun something of, empty if none. What takes something back begins nothing.
func begunBy(in Input) string {
	if in.Err != nil || in.Incomplete {
		return ""
	}
	switch act := in.Action.(type) {
	case plan.CommitTuning:
		return act.Begins()
	case plan.CommitRelocation:
		if act.GivenUp == "" {
			return plan.FeatureRelocation
		}
	case plan.Quarantine:
		return plan.FeatureDiverged
	default:
	}
	return ""
}

// aim is what that feature has chosen for all members, or the member that it replaces; empty if there is nothing.
func aim(s *v1beta2.EtcdClusterStatus, feature string) string {
	if feature == plan.FeatureDiverged && s.Quarantined != nil {
		return memberOf(s.Quarantined.Name, s.Quarantined.MemberID)
	}
	a := s.Autopilot
	if a == nil {
		return ""
	}
	switch {
	case feature == plan.FeatureQuota && a.Tuned != nil:
		return a.Tuned.QuotaBackendBytes.String()
	case feature == plan.FeatureVolume && a.Volume != nil:
		return a.Volume.Size.String()
	case feature == plan.FeatureResources && a.Resources != nil && a.Resources.GivenUp == "":
		return resizedOf(a.Resources).Now.String()
	case feature == plan.FeaturePatches && a.Version != nil:
		return a.Version.Version
	case feature == plan.FeatureRelocation && a.Relocation != nil && a.Relocation.GivenUp == "":
		return a.Relocation.Member
	}
	return ""
}

// memberOf tells a member from a later one of its name.
func memberOf(name, id string) string { return name + " (" + id + ")" }

// counts reports whether what was begun is still chosen. A member whose data differed is forgotten once it is gone; while it is there, its data is
// that of the others again. What a restore replaces needs no other member any more.
func counts(s *v1beta2.EtcdClusterStatus, act v1beta2.BegunAct) bool {
	if act.Feature != plan.FeatureDiverged || s.Quarantined != nil {
		return aim(s, act.Feature) == act.To
	}
	return hasClusterID(s) && !slices.ContainsFunc(s.MemberStatuses, func(m v1beta2.MemberStatus) bool { return memberOf(m.Name, m.ID) == act.To })
}

// whole reports whether every member is healthy, and there are as many voters as there are to be.
func whole(in Input) bool {
	o, voters := in.Observed, 0
	for _, m := range o.Etcd.Members {
		if !slices.Contains(in.Assessment.Healthy, m.Name) {
			return false
		}
		if !m.Learner {
			voters++
		}
	}
	return o.Etcd.Contact == plan.ContactQuorum && voters > 0 && voters >= in.Assessment.TargetSize
}

// reached reports whether all members have what was begun, or a member has been replaced.
func reached(s *v1beta2.EtcdClusterStatus, in Input, act v1beta2.BegunAct) bool {
	switch act.Feature {
	case plan.FeatureDiverged:
		return s.Quarantined == nil
	case plan.FeatureRelocation:
		return s.Autopilot.Relocation.MemberID == ""
	}
	t := tunedOf(s.Autopilot)
	return !slices.ContainsFunc(in.Observed.Etcd.Members, func(m plan.Member) bool {
		p, there := find(in.Observed.Pods, func(p plan.Pod) bool { return p.Name == m.Name })
		return !there || !has(in.Observed, p, act.Feature, t)
	})
}

// has reports whether a member has what Auto Pilot has chosen of that feature.
func has(o plan.Observed, p plan.Pod, feature string, t plan.Tuned) bool {
	switch feature {
	case plan.FeatureQuota:
		return p.Quota == t.Quota
	case plan.FeatureVolume:
		c, there := find(o.Volumes, func(c plan.Volume) bool { return c.Name == p.Name })
		return there && p.Persistent && c.Requested >= t.Volume && !c.Expanding
	case plan.FeatureResources:
		return !p.Untuned && !p.ResizeRefused && !p.Drift.Resources && p.Resizing == "" && !p.Unseen
	case plan.FeaturePatches:
		return t.Patch.InsteadOf == "" && p.Version == t.Patch.Version
	}
	return false
}

// Ended is what Auto Pilot had begun by the status before, and has come to its end by the one after it. What was given up, or does not count any more,
// is not among it. A feature begins anew only once all members have what it had chosen before; but another member may be found to differ at any time.
func Ended(before, after *v1beta2.EtcdClusterStatus) (ended []v1beta2.BegunAct) {
	for _, act := range begunIn(before) {
		next, again := find(begunIn(after), func(b v1beta2.BegunAct) bool { return b.Feature == act.Feature })
		switch {
		case again && (next.To == act.To && next.Since.Equal(&act.Since) || act.Feature == plan.FeatureDiverged):
		case again, counts(after, act):
			ended = append(ended, act)
		}
	}
	return ended
}
