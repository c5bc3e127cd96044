package plan

import (
	"fmt"
	"time"
)

const (
	// untriedLimit is how long a release may be chosen that no member can get, because of a problem that is known: other acts of Auto Pilot wait
	// for it. It is not tried for a day then.
	untriedLimit = 30 * time.Minute
	// trialLimit is how long a trial may take before it is told that somebody has to look.
	trialLimit = time.Hour
)

// giveUpUntried is what becomes of a release that no member has yet: it is given up once it would not be chosen any more, or cannot be given to one.
// What a release may be chosen for is looked at right before a member gets it, however long ago that was.
func (v *view) giveUpUntried(p Patch) Patch {
	if v.againstTrying(p) != "" {
		return p.unproven()
	}
	problem := v.untriedProblem(p.Version)
	if problem == "" || v.Now.Sub(p.Since) < v.pressed(untriedLimit) {
		return p
	}
	given := p.unproven()
	given.Since, given.GivenUp = v.Now, GivenUpPatch{p.Version, problem}
	return given
}

// untriedProblem is why no member can get that release, empty if nothing is known that keeps one from it, or not for long enough: the kubelet goes on
// pulling an image, at least every five minutes, so that a single failure says nothing of it.
func (v *view) untriedProblem(release string) string {
	image := v.Cluster.Image(release)
	for _, pull := range v.PrepullPods {
		if pull.Image == image && pull.Problem != "" && v.Now.Sub(pull.Created) >= v.pressed(untriedLimit) {
			return fmt.Sprintf("image %s cannot be pulled to node %s: %s", image, pull.Node, pull.Problem)
		}
	}
	for _, p := range v.Candidates {
		limit := pendingLimit
		if p.Unpulled {
			limit = untriedLimit
		}
		if problem := p.startProblem(); p.Version == release && problem != "" && v.Now.Sub(p.Created) >= v.pressed(limit) {
			return fmt.Sprintf("pod %s does not start (%s)", p.Name, problem)
		}
	}
	for _, r := range v.Refused {
		if r.Verb == createVerb(NewPod{}) && v.Now.Sub(r.Since) >= v.pressed(untriedLimit) {
			return r.unquoted()
		}
	}
	return ""
}

// lostWell reports whether the first member with a release does not have it any more, and did not fail: it is lost, because its node was drained,
// perhaps, or somebody has set the image of its pod back by hand. That says nothing of the release, and the trial begins anew.
func (v *view) lostWell(p Patch) bool {
	return p.Trial.Member != "" && (p.Trial.Failing.IsZero() && v.lostFirst(p) || v.setBack(p))
}

// lostFirst reports whether the first member with a release is lost: a quorum lists no member of its name, and there is no pod of it, or another pod of
// that name has another version, because it is that of a new member.
func (v *view) lostFirst(p Patch) bool {
	_, listed := v.members[p.Trial.Member]
	pod, there := v.pods[p.Trial.Member]
	return v.Etcd.Contact == ContactQuorum && (!there && !listed || there && pod.Version != p.Version && pod.UID != p.Trial.PodUID)
}

// setBack reports whether the very pod that was the first one with a release has another version.
func (v *view) setBack(p Patch) bool {
	pod, there := v.pods[p.Trial.Member]
	return there && pod.Version != p.Version && pod.UID == p.Trial.PodUID
}
