package world

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// manyRestarts is as far as restarts are counted: a run has no more faults.
const manyRestarts = 3

// startsAgain counts how often etcd is started again in a pod with the same release, where one may be on trial.
func (w *World) startsAgain(p *Pod) {
	if w.cfg.Autopilot.Patches == plan.ModeOff {
		return
	}
	if p.Aged = false; p.Runs == p.Version {
		p.Restarts = min(p.Restarts+1, manyRestarts)
	}
}

// tries reports whether anything of a trial was a moment ago.
func (s *Status) tries() bool {
	t := s.Tuned.Patch.Trial
	return t.Began.Equal(base) || t.Healthy.Equal(base) || t.Failing.Equal(base)
}

// age has a while pass for a release on trial, and for those who run it.
func (w *World) age() {
	chosen := w.Status.Tuned.Patch
	if chosen.InsteadOf == "" {
		return
	}
	for _, at := range []*time.Time{&w.Status.Tuned.Patch.Trial.Began, &w.Status.Tuned.Patch.Trial.Healthy, &w.Status.Tuned.Patch.Trial.Failing} {
		if at.Equal(base) {
			*at = base.Add(-time.Hour)
		}
	}
	for i := range w.Pods {
		p := &w.Pods[i]
		p.Aged = p.Aged || p.Runs == chosen.Version && w.serverRuns(p) && !p.Restarting
	}
}

// fresh reports whether the release on trial runs, and nowhere for a while yet.
func (w *World) fresh() bool {
	chosen, runs := w.Status.Tuned.Patch, false
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.Runs == chosen.Version && p.Aged {
			return false
		}
		runs = runs || p.Runs == chosen.Version && w.serverRuns(p)
	}
	return chosen.InsteadOf != "" && runs
}

// sour ends all servers of the release on trial.
func (w *World) sour() {
	w.Sour = w.Status.Tuned.Patch.Version
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Runs == w.Sour && w.serverRuns(p) {
			w.Etcd.Stop(w.dir(p))
		}
	}
}

// noted is the version that a cluster without a status is found to run.
func (w *World) noted() string {
	var versions []string
	for i := range w.Volumes {
		if v := &w.Volumes[i]; v.Version != "" && v.Foreign == "" {
			versions = append(versions, v.Version)
		}
	}
	for i := range w.Pods {
		if p := &w.Pods[i]; !p.Persistent && p.Permit != nil {
			versions = append(versions, p.Version)
		}
	}
	if w.cfg.Autopilot.Patches == plan.ModeOff {
		return ""
	}
	return version.Noted(versions)
}

// checkTrial is for a release on trial: one member has it, and that gets it only when it could be chosen.
func (w *World) checkTrial(a plan.Action) {
	w.checkPromoted(a)
	chosen := w.Status.Tuned.Patch
	if !w.Follows || chosen.InsteadOf == "" || chosen.Version != w.version() {
		return
	}
	switch act := a.(type) {
	case plan.SetImage:
		w.checkTried(act.Name, act.Version)
	case plan.Recreate:
		w.checkTried(act.Name, act.Version)
	case plan.CreatePods:
		for _, p := range act.Pods {
			w.checkTried(p.Name, p.Version)
		}
	case plan.Promote:
		if p := w.pod(act.Name); p != nil && p.Version == chosen.Version && !p.Aged {
			w.violate("R: %s is to vote with %s, which is on trial", act.Name, chosen.Version)
		}
	default:
	}
}

// checkPromoted is for a learner that is to vote: with no release that was rolled back, unless a user asks for that.
func (w *World) checkPromoted(a plan.Action) {
	act, promotes := a.(plan.Promote)
	if !promotes {
		return
	}
	if p := w.pod(act.Name); p != nil && p.Version != w.version() && w.Status.Refuses(p.Version) {
		w.violate("R: %s is to vote with %s, which was rolled back", act.Name, p.Version)
	}
}

// checkTried is for a member that is to get a version.
func (w *World) checkTried(name, release string) {
	p, v := w.pod(name), w.volume(name)
	if release != w.Status.Tuned.Patch.Version || p != nil && p.Version == release || v != nil && v.Version == release {
		return
	}
	for i := range w.Pods {
		if w.Pods[i].Aged && w.Pods[i].Runs == release { // and that it is accepted is yet to be recorded
			return
		}
		if w.Pods[i].Version == release {
			w.violate("R: %s gets %s, which is on trial", name, release)
			return
		}
	}
	if w.Unsaved || w.Shut || w.Elsewhere || w.furthest() != plan.ModeOn {
		w.violate("R: %s gets %s first, and it would not be chosen now", name, release)
	}
}

// checkAccepted is for a release whose trial ends well. What is recorded by a pass that was held up was so when it began.
func (w *World) checkAccepted(next *Status) {
	before, after := w.Status.Tuned.Patch, next.Tuned.Patch
	if tried := after.Trial.Member != ""; w.Alarm && tried && !after.Trial.Corrupt && w.undisturbed() && w.Etcd.Read(w.Status.ID) {
		w.violate("R: %s is on trial, and that data differs is forgotten once the alarm is disarmed", after.Version)
	}
	if before.InsteadOf == "" || after.InsteadOf != "" || before.Version != after.Version || !w.undisturbed() {
		return
	}
	if w.Alarm || before.Trial.Corrupt {
		w.violate("R: %s is accepted, although etcd has found that data differs", after.Version)
	}
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Runs == after.Version && p.Aged { // the same pass may have removed its member
			return
		}
	}
	w.violate("R: %s is accepted, and no member has run it for a while", after.Version)
}
