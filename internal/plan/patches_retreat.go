package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// patchLimit is how long the first member with a release may fail before that is rolled back.
	patchLimit = 10 * time.Minute
	// patchPatience is how long it may while others have become ready, or ceased to be, a moment ago: the reason may be one that all have.
	patchPatience = 30 * time.Minute
)

// retreat has members go back to the release before, if the first one fails with the one that Auto Pilot has chosen. It needs no quorum:
// another member may have been lost meanwhile, and the one that was updated can bring the quorum back.
//
// etcd compares no more of versions than the minor release, neither of its own and the cluster's (MustDetectDowngrade in its package version)
// nor of its own and the data's (Validate in its package schema), and members of both releases have written the same log all along. So the
// member goes back on its data. It is the only one that has run the release, so if that is wrong, and it does not start, the others still are
// what they were: it is waited for, and its data is kept.
func retreat(v *view) Action { return v.Retreat }

// retreating takes a patch release back that the first member fails with.
func (v *view) retreating() Action {
	c, p := v.Cluster, v.OnTrial
	if p.Trial.Member == "" || c.Autopilot.Patches == ModeOff {
		return nil
	}
	why := v.failsTrial()
	switch {
	case why == "":
		return nil
	case c.Autopilot.Patches == ModeAdvise:
		v.held(FeaturePatches, v1beta2.ReasonAutopilotAdvises, fmt.Sprintf("%s: with mode On members would go back to %s", why, p.InsteadOf))
		return nil
	}
	act := CommitTuning{Tuned: c.Tuned, FromVersion: p.Version, Because: why}
	act.Patch = Patch{Version: p.InsteadOf, Image: p.Image, Since: v.Now}
	act.Refused = RefusedPatch{Version: p.Version, Image: c.Image(p.Version), Since: v.Now}
	return act
}

// failsTrial says in what way the first member has failed, empty if it has not, or not for long enough.
func (v *view) failsTrial() string {
	t := v.OnTrial.Trial
	pod, there := v.pods[t.Member]
	switch {
	case t.Corrupt: // none was raised when it began, and whom etcd names need not be who is wrong
		return fmt.Sprintf("etcd has found that data differs (alarm CORRUPT), while %s was the first member to run etcd %s", t.Member, v.OnTrial.Version)
	case there && t.crashed(pod):
		return fmt.Sprintf("%s was healthy with etcd %s, and then etcd ended and was started again", t.Member, v.OnTrial.Version)
	case v.lostFirst(v.OnTrial):
		return fmt.Sprintf("%s, which was the first member to run etcd %s, was lost", t.Member, v.OnTrial.Version)
	}
	fails := v.Now.Sub(t.Failing)
	if t.Failing.IsZero() || fails < v.pressed(patchLimit) || fails < v.pressed(patchPatience) && v.othersChanged(t.Member) {
		return ""
	}
	return v.failsWith(v.OnTrial.Version)
}

// othersChanged reports whether another voter has become ready, or ceased to be, a moment ago. Without a quorum it is not known who votes.
func (v *view) othersChanged(first string) bool {
	return slices.ContainsFunc(v.Pods, func(p Pod) bool {
		m, listed := v.members[p.Name]
		return p.Name != first && (v.Etcd.Contact != ContactQuorum || listed && !m.Learner) && v.Now.Sub(p.ReadyChanged) < v.pressed(stepLimit)
	})
}

// failsWith says why no member is healthy that is to run that version; empty if one is, if none is known to fail, or if there is nobody left that
// runs another. Of what else may keep a member from being healthy nothing is known while others are not either, unless its pod does not start.
func (v *view) failsWith(target string) (why string) {
	former := false
	for _, p := range v.Pods {
		a, answers := v.answer(v.members[p.Name])
		switch {
		case p.Version != target:
			former = true
		case answers && a.Leader != 0: // whatever becomes of its pod
			return ""
		case p.Deleting || p.Permit == nil: // who knows whether it would
		case why == "" && (v.unstartable(p) || v.othersAreHealthy(p)):
			why = fmt.Sprintf("%s is not healthy with etcd %s", p.Name, target)
			if problem := p.startProblem(); problem != "" {
				why += " (" + problem + ")"
			}
		}
	}
	if !former {
		return ""
	}
	return why
}

// othersAreHealthy reports whether all voters are but that pod's.
func (v *view) othersAreHealthy(p Pod) bool {
	m, others := v.members[p.Name], len(v.voters)
	if m.ID != 0 && !m.Learner {
		others--
	}
	return v.Etcd.Contact == ContactQuorum && v.healthyVoters(p.Name) == others
}
