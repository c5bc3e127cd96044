package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestCorruptIsRemembered: a release on whose trial etcd has found that data differs is never accepted, whatever kept it from being rolled back while
// the alarm stood.
func TestCorruptIsRemembered(t *testing.T) {
	paused := func(o *Observed) { o.Cluster.Paused = true }
	advises := func(o *Observed) { o.Cluster.Autopilot.Patches = ModeAdvise }
	off := func(o *Observed) { o.Cluster.Autopilot.Patches = ModeOff }
	made := func(o *Observed) { paused(o); o.Pods[1].UID, o.Etcd.Answers[1].PodUID = "anew", "anew" }
	gone := func(o *Observed) { paused(o); o.Pods[1].Deleting = true }
	three := patchable(chose(former, time.Hour), updated(1, true, 5*time.Minute))
	learner := passed(joining(chose(former, time.Minute), func(o *Observed) {
		o.Pods[1].Version, o.Volumes[1].Version, o.Etcd.Answers[1].Version = newest, newest, newest
	}), 5*time.Minute)
	for title, c := range map[string]struct {
		o         Observed
		meanwhile func(*Observed)
	}{
		"paused": {three, paused}, "with Advise": {three, advises}, "with Off": {three, off}, "its pod is made anew": {three, made},
		"its pod goes": {three, gone}, "a learner, paused": {learner, paused}, "a learner, with Advise": {learner, advises},
	} {
		o := passed(alarmed(edit(c.o, c.meanwhile), Alarm{AlarmCorrupt, id(1)}), time.Minute)
		o = alarmed(edit(o, func(o *Observed) { o.Pods = c.o.Pods }))
		if act, promotes := Next(o).(Promote); promotes {
			t.Errorf("%s: once it is disarmed: %#v", title, act)
		}
		o = passed(passed(o, 11*time.Minute), 11*time.Minute)
		if p := passed(o, 0).Cluster.Tuned.Patch; p.InsteadOf == "" {
			t.Errorf("%s: it is accepted: %+v", title, p)
		}
		ends := edit(o, func(o *Observed) { o.Cluster.Paused, o.Cluster.Autopilot.Patches = false, ModeOn })
		if act, back := Next(ends).(CommitTuning); !back || act.Refused.Version != newest || !strings.Contains(act.Because, "(alarm CORRUPT)") {
			t.Errorf("%s: it is not rolled back: %#v", title, Next(ends))
		}
	}
}

// TestCorruptIsTold: who has switched Auto Pilot off is told what ends the trial, and not when the others follow.
func TestCorruptIsTold(t *testing.T) {
	o := alarmed(patchable(chose(former, time.Hour), updated(1, true, 5*time.Minute)), Alarm{AlarmCorrupt, id(1)})
	for mode, reason := range map[Mode]string{ModeAdvise: v1beta2.ReasonAutopilotAdvises, ModeOff: v1beta2.ReasonPatchHeld} {
		o := alarmed(passed(edit(o, func(o *Observed) { o.Cluster.Autopilot.Patches = mode }), time.Minute))
		known := Assess(o)
		if held := heldBy(known); !strings.HasPrefix(held, reason) || !strings.Contains(held, "alarm CORRUPT") {
			t.Errorf("%s: held: %q", mode, held)
		}
		if ends, well := known.TrialEnds(1); well {
			t.Errorf("%s: it ends at %s", mode, ends)
		}
	}
}

// TestLostWithCorrupt: a member that is lost while it was well says nothing of the release, but if etcd had found that data differs.
func TestLostWithCorrupt(t *testing.T) {
	o := passed(alarmed(patchable(chose(former, time.Hour), updated(1, true, 5*time.Minute), func(o *Observed) { o.Cluster.Paused = true }),
		Alarm{AlarmCorrupt, id(1)}), time.Minute)
	lost := alarmed(withoutSecond(edit(o, func(o *Observed) { o.Cluster.Paused, o.Pods = false, append(o.Pods[:1:1], o.Pods[2:]...) })))
	if act, back := Next(lost).(CommitTuning); !back || act.Refused.Version != newest {
		t.Errorf("%#v", Next(lost))
	}
}
