package plan

import (
	"fmt"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// PatchTrial is how the first member does with a patch release that Auto Pilot has chosen.
type PatchTrial struct {
	// Member is its name, and PodUID that of its pod: in another one the trial begins anew.
	Member, PodUID string
	// Began is when a pod with that release was first seen.
	Began time.Time `json:",omitzero"`
	// Healthy is since when the member is healthy and in sync and its etcd was not started again, zero while it is not. WasHealthy is true once it
	// was in that pod, and Restarts is how often the pod's container had been started again then.
	Healthy    time.Time `json:",omitzero"`
	WasHealthy bool      `json:",omitempty"`
	Restarts   int       `json:",omitempty"`
	// Failing is since when neither the operator nor the kubelet finds the member healthy, or only now and then; zero while one of them has at all
	// times since its first start. It equals Began until that has come to its end.
	Failing time.Time `json:",omitzero"`
	// Corrupt is true once etcd has raised its alarm CORRUPT since the trial began: such a release is never accepted, whoever disarms the alarm.
	Corrupt bool `json:",omitempty"`
}

// trialTime is how long the first member has to be healthy with a release before others get it.
const trialTime = 10 * time.Minute

// pressed is a time of trials, which is shorter in tests.
func (v *view) pressed(usual time.Duration) time.Duration {
	return usual / time.Duration(max(1, v.Cluster.Autopilot.Pace))
}

// onTrial is the release that one member is to run for a while before the others get it, as far as it has come with this observation; the zero
// Patch if there is none. A release that a user has named is not tried.
func (v *view) onTrial() Patch {
	c := v.Cluster
	if p := v.watched(c.Tuned.Patch); p.InsteadOf != "" && (c.Invalid != nil || p.stillValid(c.NewestPatch) != (Patch{})) {
		return p
	}
	return Patch{}
}

// nextPatch is what is to be recorded of it.
func (v *view) nextPatch() Patch {
	p := v.watched(v.Cluster.Tuned.Patch)
	untried := p.InsteadOf != "" && p.Trial.Member == "" && p.Version == v.Cluster.Version
	if untried && v.Etcd.Contact == ContactQuorum && v.Cluster.Invalid == nil && !v.Cluster.Paused {
		return v.giveUpUntried(p)
	}
	return p
}

// after is the release after that act: where it has the first member's container start anew, the trial begins anew.
func (p Patch) after(a Action) Patch {
	if act, sets := a.(SetImage); sets && act.Name == p.Trial.Member {
		p.Trial = p.Trial.anew()
	}
	return p
}

// anew is the trial as it begins anew once a pod, or another container in it, is seen.
func (t PatchTrial) anew() PatchTrial {
	return PatchTrial{Member: t.Member, Began: t.Began, Corrupt: t.Corrupt}
}

// begun is the trial as it begins in a pod.
func (t PatchTrial) begun(in Pod, now time.Time) PatchTrial {
	began, failing := now, t.Failing
	switch {
	case failing.IsZero():
		failing = began
	case failing.Equal(t.Began): // that is still its first start
		began = failing
	}
	return PatchTrial{Member: in.Name, PodUID: in.UID, Began: began, Failing: failing, Restarts: in.Restarts, Corrupt: t.Corrupt}
}

// watched is a release with what this observation says of the first member that has it. Once that was healthy for long enough, it is accepted, and
// stays, whatever becomes of the member then.
func (v *view) watched(p Patch) Patch {
	corrupt := p.Trial.Corrupt || len(v.alarmed(AlarmCorrupt)) > 0
	p = v.tested(p, corrupt)
	p.Trial.Corrupt = corrupt && p.Trial.Member != ""
	return p
}

// tested is watched but for what etcd has said of the members' data: whoever may have to be rolled back because of that is not accepted.
func (v *view) tested(p Patch, corrupt bool) Patch {
	if v.lostWell(p) && !corrupt {
		p.Trial, p.Since = PatchTrial{}, v.Now
	}
	pod, there := v.firstWith(p)
	if !there || p.InsteadOf == "" || p.Version != v.Cluster.Version {
		return p
	}
	t := &p.Trial
	if t.replacedIn(pod) {
		*t = t.anew()
	}
	if t.PodUID != pod.UID {
		*t = t.begun(pod, v.Now)
	}
	healthy := v.doesWell(pod, p.Version)
	switch {
	case t.crashed(pod): // and that is not forgotten if it is healthy again
		return p
	case healthy && (t.Healthy.IsZero() || pod.ReadyChanged.After(t.Healthy)):
		if t.Failing.Equal(t.Began) { // that was its first start
			t.Failing = time.Time{}
		}
		t.Healthy, t.WasHealthy, t.Restarts = v.Now, true, pod.Restarts
	case !healthy: // one look is enough: more of them would have to be counted, and a member that is well has no trouble with ten minutes
		if t.Healthy = (time.Time{}); t.Failing.IsZero() && v.silent(pod) {
			t.Failing = v.Now
		}
	case !corrupt && v.Now.Sub(t.Healthy) >= v.pressed(trialTime):
		return Patch{Version: p.Version, Since: p.Since}
	}
	return p
}

// crashed reports whether etcd has ended in the pod, and was started again, since the member first was healthy, whatever was seen in between.
func (t PatchTrial) crashed(p Pod) bool {
	return t.PodUID == p.UID && t.WasHealthy && p.Restarts > t.Restarts
}

// replacedIn reports whether etcd was started again in the pod only because an edit changed its image, and that was not recorded: the status
// write after the edit was lost.
func (t PatchTrial) replacedIn(p Pod) bool {
	return t.crashed(p) && p.Replaced && p.Restarts == t.Restarts+1
}

// firstWith is the pod of the member that is to run a release before all others do; false if no pod that may start is to run it.
func (v *view) firstWith(p Patch) (first Pod, there bool) {
	for _, pod := range v.Pods {
		if pod.Version != p.Version || pod.Permit == nil || pod.Deleting {
			continue
		}
		if pod.Name == p.Trial.Member {
			return pod, true
		}
		if !there {
			first, there = pod, true
		}
	}
	return first, there
}

// doesWell reports whether a member runs that version, and does all that can be expected of it: a learner's pod is never Ready.
func (v *view) doesWell(p Pod, release string) bool {
	m, listed := v.members[p.Name]
	a, _ := v.answer(m)
	return listed && v.healthy(m) && v.inSync(m) && a.Version == release && (p.Ready || m.Learner)
}

// silent reports whether neither the operator nor the kubelet finds the member healthy. One of them alone may have trouble of its own.
func (v *view) silent(p Pod) bool {
	a, answers := v.answers[p.Name]
	return !p.Ready && (!answers || a.Leader == 0)
}

// tried reports whether the member has a release that is on trial.
func (v *view) tried(m Member) bool {
	return v.OnTrial.Trial.Member != "" && v.pods[m.Name].Version == v.OnTrial.Version
}

// gotRefused reports whether the member is a learner with a release that was rolled back, and that no new member would get.
func (v *view) gotRefused(m Member) bool {
	release := v.pods[m.Name].Version
	return m.Learner && v.Cluster.Refuses(release) && release != v.Versions.Lowest && release != v.Versions.Target
}

// staysBehind reports whether the pod keeps its version, although another one was chosen: that one is on trial, or is not to be tried now. In a
// cluster of one or two, the first member with it is an additional one, which is not promoted before the end of its trial: see promoteLearner.
func (v *view) staysBehind(p Pod) bool {
	release := v.OnTrial
	if release.Version == "" || p.Version == release.Version {
		return false
	}
	if release.Trial.Member == "" {
		return v.untried != ""
	}
	takesPlace := v.members[release.Trial.Member].Learner && Quorum(v.TargetSize) > v.TargetSize-1
	return !takesPlace
}

// whyUntried is why no member gets a release now that was chosen, as the rest of a sentence; empty if one does.
func (v *view) whyUntried() string {
	p := v.OnTrial
	if p.Version == "" || p.Trial.Member != "" {
		return ""
	}
	v.untried = "members are updated for another reason" // as if it were: what is due then has nothing to do with the release
	v.Changes = v.changes()
	switch {
	case v.updating():
		return v.untried
	case v.Etcd.Contact != ContactQuorum || len(v.unhealthyVoters()) > 0:
		return "not all members are healthy"
	case v.Cluster.Invalid != nil:
		return "the spec is refused"
	}
	return v.againstTrying(p)
}

// againstTrying is why a release would not be chosen again that no member has yet.
func (v *view) againstTrying(p Patch) string {
	a := v.Cluster.Autopilot
	switch {
	case a.Patches != ModeOn:
		return "spec.autopilot does not allow it any more"
	case p.Version != v.Cluster.NewestPatch:
		return "there is another one"
	case a.Window.Set && !a.Window.Open:
		return "the maintenance window is closed"
	}
	return v.againstFollowing()
}

// newVersion is the version of a member that takes the place of another one.
func (v *view) newVersion() string {
	if v.Versions.Target == "" || v.OnTrial.Version != "" && (v.OnTrial.Trial.Member != "" || v.untried != "") {
		return v.Versions.Lowest
	}
	return v.Versions.Target
}

// tellTrial says what the members wait for that do not have the release yet.
func (v *view) tellTrial() {
	switch p := v.OnTrial; {
	case p.Trial.Member != "" && !p.Trial.Corrupt && v.Now.Sub(p.Trial.Began) < v.pressed(trialLimit) &&
		(v.triedWell() || p.Trial.Failing.IsZero() || v.Now.Sub(p.Trial.Failing) < v.pressed(stepLimit)):
		v.held(FeaturePatches, v1beta2.ReasonPatchOnTrial, v.trialMessage())
	case p.Trial.Member != "":
		v.held(FeaturePatches, v1beta2.ReasonPatchHeld, v.trialMessage())
	case v.untried != "":
		v.held(FeaturePatches, v1beta2.ReasonPatchHeld, dueUpdate(p.InsteadOf, p.Version)+", and held: "+v.untried)
	}
}

// triedWell reports whether the first member is healthy with the release, and its etcd has not ended since it first was.
func (v *view) triedWell() bool {
	t := v.OnTrial.Trial
	return !t.Healthy.IsZero() && !t.Corrupt && !t.crashed(v.pods[t.Member])
}

// trialMessage says how long the trial takes. It names times, so that it does not change with every pass.
func (v *view) trialMessage() string {
	p := v.OnTrial
	switch {
	case p.Trial.Corrupt:
		text := fmt.Sprintf("etcd has found that data differs (alarm CORRUPT) while %s was the first member to run etcd %s: the others run %s, and it takes "+
			"the mode On, or a version named by spec.version, to end this", p.Trial.Member, p.Version, p.InsteadOf)
		if v.disputed() {
			text += "; before anything of it is removed or gets a vote, it has to be known whose data is right: " + v.whyKept()
		}
		return text
	case v.lostFirst(p):
		return fmt.Sprintf("%s, which was the first member to run etcd %s, was lost: the others run %s, and it takes the mode On, or a version named by "+
			"spec.version, to end this", p.Trial.Member, p.Version, p.InsteadOf)
	case !v.triedWell():
		return fmt.Sprintf("%s is the first member to run etcd %s, and is not healthy, or behind the leader: the others run %s until it has been neither "+
			"for ten minutes",
			p.Trial.Member, p.Version, p.InsteadOf)
	}
	return fmt.Sprintf("%s is the first member to run etcd %s: the others follow at %s, if it is healthy until then and its etcd is not started again",
		p.Trial.Member, p.Version, p.Trial.Healthy.Add(v.pressed(trialTime)).UTC().Format(time.RFC3339))
}

// TrialEnds is when the first member will have been healthy for long enough with a release, and false if it is not, or there is none.
func (known Assessment) TrialEnds(pace int) (time.Time, bool) {
	t := known.OnTrial.Trial
	return t.Healthy.Add(trialTime / time.Duration(max(1, pace))), !t.Healthy.IsZero() && !t.Corrupt
}
