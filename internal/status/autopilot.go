package status

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// setAutopilot shows what Auto Pilot would do, what it has begun, and how far the operator lets it go if that is not all the way.
func setAutopilot(s *v1beta2.EtcdClusterStatus, in Input) {
	setDoubt(s, in)
	shown := v1beta2.AutopilotStatus{Held: held(s, in), UnderWay: unfinished(s, in)}
	if in.OperatorMode != v1beta2.AutopilotOn {
		shown.OperatorMode = in.OperatorMode
	}
	if s.Autopilot != nil {
		shown.Tuned, shown.Volume, shown.Version = s.Autopilot.Tuned, s.Autopilot.Volume, s.Autopilot.Version // writeRecord's
		shown.RefusedVersions, shown.Relocation, shown.Resources = s.Autopilot.RefusedVersions, s.Autopilot.Relocation, s.Autopilot.Resources
	}
	s.Autopilot = nil
	if len(shown.Held) > 0 || len(shown.UnderWay) > 0 || shown.OperatorMode != "" || shown.Tuned != nil || shown.Volume != nil || shown.Version != nil ||
		shown.Relocation != nil || len(shown.RefusedVersions) > 0 || shown.Resources != nil {
		s.Autopilot = &shown
	}
}

// held lists the acts that are due and not done, one per feature, each with the time since which it has been held for its present reason. Without
// a quorum nothing new is known, so former entries stay, except those of features that are switched off; see stays.
func held(s *v1beta2.EtcdClusterStatus, in Input) []v1beta2.HeldAct {
	var before, known []v1beta2.HeldAct
	if s.Autopilot != nil {
		before = s.Autopilot.Held
	}
	of := func(all []v1beta2.HeldAct, feature string) (v1beta2.HeldAct, bool) {
		return find(all, func(h v1beta2.HeldAct) bool { return h.Feature == feature })
	}
	for _, h := range slices.Concat(in.Assessment.Held, timers(in)) {
		if _, twice := of(known, h.Feature); twice {
			continue
		}
		act := v1beta2.HeldAct{Feature: h.Feature, Reason: h.Reason, Message: h.Message, Since: now(in.Observed)}
		if had, some := of(before, h.Feature); some && had.Reason == h.Reason {
			act.Since = had.Since
		}
		known = append(known, act)
	}
	for _, h := range before {
		if _, told := of(known, h.Feature); !told && hasClusterID(s) && stays(s, in, h.Feature) {
			known = append(known, h)
		}
	}
	slices.SortFunc(known, func(a, b v1beta2.HeldAct) int { return cmp.Compare(a.Feature, b.Feature) })
	return known
}

// stays reports whether something of that feature remains held although this pass says nothing of it. Diverged data stays held while the doubt is
// recorded, until a member is quarantined for it; a new process, a pause or the mode Off does not resolve it.
func stays(s *v1beta2.EtcdClusterStatus, in Input, feature string) bool {
	if feature == plan.FeatureDiverged && s.Quarantined == nil {
		return s.Doubt != nil
	}
	return in.Observed.Etcd.Contact != plan.ContactQuorum && !hibernates(s) && in.Observed.Cluster.Autopilot.Mode(feature) != plan.ModeOff
}

// setDoubt leaves the record of what is in doubt empty where only etcd's alarm has told that data differs.
func setDoubt(s *v1beta2.EtcdClusterStatus, in Input) {
	if s.Doubt == nil && alarmTold(s, in) {
		s.Doubt = &v1beta2.DataDoubt{}
	}
}

// alarmTold reports whether etcd's alarm has told that data differs, and no comparison says whose. Once raised, that holds until comparisons show the
// data to be the same, or a member is quarantined for it; disarming the alarm does not repair data.
func alarmTold(s *v1beta2.EtcdClusterStatus, in Input) bool {
	before, alarm := in.Cluster.Status.Doubt, alarmOf(s, in)
	raised := alarm != nil && alarm.Reason == v1beta2.ReasonCorrupt
	stays := hasClusterID(s) && before != nil && *before == (v1beta2.DataDoubt{}) && in.Cluster.Status.Quarantined == nil && !in.Observed.DataAgrees()
	return raised || stays
}

// hibernationOf reads how far a cluster is with spec.hibernate. What nobody knows is none: members that run are looked after.
func hibernationOf(s *v1beta2.EtcdClusterStatus) plan.Hibernation {
	if h := plan.Hibernation(s.Hibernation); h == plan.Hibernated || h == plan.Waking {
		return h
	}
	return plan.Awake
}

// tunedOf reads what Auto Pilot has changed of the spec.
func tunedOf(a *v1beta2.AutopilotStatus) (t plan.Tuned) {
	if a == nil {
		return t
	}
	if a.Tuned != nil {
		t.Quota, t.InsteadOf = a.Tuned.QuotaBackendBytes.Value(), a.Tuned.InsteadOf.Value()
	}
	if a.Volume != nil {
		t.Volume, t.VolumeInsteadOf = a.Volume.Size.Value(), a.Volume.InsteadOf.Value()
	}
	t.Patch, t.Resized = patchOf(a.Version), resizedOf(a.Resources)
	return t
}

// writeTuned writes that; the rest of what status says of Auto Pilot comes later.
func writeTuned(s *v1beta2.EtcdClusterStatus, t plan.Tuned) {
	if s.Autopilot == nil && t == (plan.Tuned{}) {
		return
	}
	if s.Autopilot == nil {
		s.Autopilot = &v1beta2.AutopilotStatus{}
	}
	size := func(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }
	if s.Autopilot.Tuned = nil; t.Quota != 0 {
		s.Autopilot.Tuned = &v1beta2.TunedOptions{QuotaBackendBytes: size(t.Quota), InsteadOf: size(t.InsteadOf)}
	}
	if s.Autopilot.Volume = nil; t.Volume != 0 {
		s.Autopilot.Volume = &v1beta2.TunedVolume{Size: size(t.Volume), InsteadOf: size(t.VolumeInsteadOf)}
	}
	s.Autopilot.Version, s.Autopilot.Resources = chosenVersion(t.Patch), resizedFor(t.Resized)
}
