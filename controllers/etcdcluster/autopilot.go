package etcdcluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// observeAutopilot reads how far Auto Pilot may go, and whether it is this cluster's turn.
func (r *Reconciler) observeAutopilot(p *pass) {
	p.observed.Cluster.Autopilot = plan.AutopilotOf(&p.cluster.Spec, r.Autopilot, p.observed.Now)
	p.observed.MayDisturb = r.brake.may(p.key(), p.observed.Now)
}

// pace is by which factor this process is to be quicker in tests, 0 for none.
func (r *Reconciler) pace() int {
	if every := r.Etcd.SampleEvery; every > 0 {
		return int(anomaly.Every / every)
	}
	return 0
}

// takeTurn counts the cluster as disturbed if Auto Pilot is about to act on it. It returns false if others have come first since it was
// observed that this may be done. Room is made without a turn, and takes none from others: whoever fills databases would keep them waiting.
func (r *Reconciler) takeTurn(p *pass) bool {
	if p.assessment.Feature == "" || p.assessment.Feature == plan.FeatureNoSpace || !plan.Mutates(p.action) || !p.observed.MayDisturb {
		return true
	}
	return r.brake.take(p.key(), r.Clock.Now())
}

// minPause is before the pass at the beginning of a window, which the clock must not be too early for.
const minPause = 10 * time.Millisecond

// autopilotAgain returns when the next pass is due for Auto Pilot's sake, and false if it does not matter.
func (r *Reconciler) autopilotAgain(p *pass) (time.Duration, bool) {
	key, now := p.key(), r.Clock.Now()
	if ends, well := p.assessment.TrialEnds(p.observed.Cluster.Autopilot.Pace); well && ends.After(now) && p.assessment.Feature == "" {
		return ends.Sub(now), true
	}
	switch {
	case p.assessment.Feature != "":
		return 0, false
	case p.holds(v1beta2.ReasonWaitingForBrake):
		r.brake.wait(key, now)
	case !plan.Mutates(p.action) && !p.assessment.Disturbing() && p.observed.Etcd.Contact == plan.ContactQuorum:
		if left := r.brake.calm(key, now); left > 0 {
			return left, true
		}
	default:
		r.brake.leave(key)
	}
	if next := p.observed.Cluster.Autopilot.Window.Next; p.holds(v1beta2.ReasonWaitingForWindow) && !next.IsZero() {
		return max(next.Sub(now), minPause), true
	}
	return 0, false
}

// holds reports whether anything is held for that reason.
func (p *pass) holds(reason string) bool {
	return slices.ContainsFunc(p.assessment.Held, func(h plan.HeldAct) bool { return h.Reason == reason })
}

// recordHeld records an event when something begins to be held, or for another reason, and one when it no longer is. Status has it from
// pass to pass, so a restart of the operator repeats neither.
func (r *Reconciler) recordHeld(p *pass) {
	before, now := heldIn(p.before), heldIn(&p.cluster.Status)
	of := func(all []v1beta2.HeldAct, feature string) (v1beta2.HeldAct, bool) {
		i := slices.IndexFunc(all, func(h v1beta2.HeldAct) bool { return h.Feature == feature })
		if i < 0 {
			return v1beta2.HeldAct{}, false
		}
		return all[i], true
	}
	for _, h := range now {
		if had, some := of(before, h.Feature); some && had.Reason == h.Reason {
			continue
		}
		kind := corev1.EventTypeWarning
		switch h.Reason {
		case v1beta2.ReasonPatchOnTrial, v1beta2.ReasonAutopilotAdvises, v1beta2.ReasonTimersTooShort, v1beta2.ReasonWaitingForWindow, v1beta2.ReasonWaitingForBrake:
			kind = corev1.EventTypeNormal
		}
		reconcile.Emit(r.Recorder, p.cluster, kind, h.Reason, "Hold "+h.Feature, "autopilot."+h.Feature+": "+h.Message)
	}
	for _, h := range before {
		if _, some := of(now, h.Feature); !some {
			reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeNormal, v1beta2.ReasonNoLongerHeld, "Release "+h.Feature,
				"autopilot."+h.Feature+": no longer held for "+h.Reason)
		}
	}
}

func heldIn(s *v1beta2.EtcdClusterStatus) []v1beta2.HeldAct {
	if s.Autopilot == nil {
		return nil
	}
	return s.Autopilot.Held
}

// recordEnded records an event once what Auto Pilot has begun has come to its end. Status has what is under way from pass to pass, so a restart of the
// operator neither repeats it nor forgets it.
func (r *Reconciler) recordEnded(p *pass) {
	for _, act := range status.Ended(p.before, &p.cluster.Status) {
		reason, what := actEnd(act)
		took := p.observed.Now.Sub(act.Since.Time).Round(time.Second)
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeNormal, reason, "Observe", what+": that took "+took.String())
	}
}

// actEnd is the reason of an act's end, and what is so by then.
func actEnd(act v1beta2.BegunAct) (reason, what string) {
	switch act.Feature {
	case plan.FeatureQuota:
		return v1beta2.ReasonQuotaRaised, "all members run with etcd's quota of " + act.To
	case plan.FeatureVolume:
		return v1beta2.ReasonVolumesGrown, "all members have volumes of " + act.To
	case plan.FeatureResources:
		return v1beta2.ReasonMembersResized, "all members request " + act.To
	case plan.FeaturePatches:
		return v1beta2.ReasonPatchFollowed, "all members run etcd " + act.To
	case plan.FeatureRelocation:
		return v1beta2.ReasonRelocated, act.To + ", whose disk was slow, is removed, and another member has taken its place"
	}
	return v1beta2.ReasonDivergedMemberReplaced, act.To + ", whose data differed, is removed, and another member has taken its place"
}
