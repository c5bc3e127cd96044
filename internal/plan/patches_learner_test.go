package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// joining is a cluster of one with an additional member, which is a learner.
func joining(changes ...func(*Observed)) Observed {
	o := withLearner(edit(healthyCluster(1, true), func(o *Observed) {
		o.Cluster.Version, o.Cluster.NewestPatch, o.Cluster.Autopilot.Patches, o.MayDisturb = former, newest, ModeOn, true
		o.Pods[0].Version, o.Volumes[0].Version, o.Etcd.Answers[0].Version = former, former, former
	}), 1)
	o.Etcd.Members[1].Published = true
	o.Pods[1].Permit = &member.Permit{Mode: member.ModeJoin, ClusterID: member.ID(recordedID), MemberID: member.ID(id(1)), PodUID: o.Pods[1].UID, Attempt: 1}
	o.Etcd.Answers = append(o.Etcd.Answers, answerOf(1))
	o.Etcd.Answers[1].Learner, o.Budget.MinAvailable = true, 2
	return edit(o, changes...)
}

// TestLearnerOnTrial has a cluster of one have its new member vote no sooner than it has run the release for a while: from then on it cannot do
// without it.
func TestLearnerOnTrial(t *testing.T) {
	begun := joining(chose(former, time.Minute))
	o := passed(begun, 9*time.Minute)
	for _, o := range []Observed{begun, o} {
		if act, waits := Next(o).(Wait); !waits || act.Reason != v1beta2.ReasonPatchOnTrial {
			t.Errorf("it does not wait: %#v", Next(o))
		}
	}
	if act, promotes := Next(passed(o, time.Minute)).(Promote); !promotes || act.Name != "c-1" {
		t.Errorf("after ten minutes: %#v", Next(passed(o, time.Minute)))
	}
	if act, promotes := Next(joining(func(o *Observed) { o.Cluster.Version, o.Cluster.NewestPatch = newest, "" })).(Promote); !promotes {
		t.Errorf("a user has named the release: %#v", act)
	}
}

// TestLearnerFailsTrial has a learner with a release that was rolled back go, and never vote, although it is healthy again.
func TestLearnerFailsTrial(t *testing.T) {
	o := passed(joining(chose(former, time.Minute), func(o *Observed) {
		o.Pods[1].Version, o.Volumes[1].Version, o.Etcd.Answers[1].Version = newest, newest, newest
	}), 5*time.Minute)
	o.Pods[1].Restarts = 1
	back, ok := Next(o).(CommitTuning)
	if !ok || back.Refused.Version != newest {
		t.Fatalf("it is not rolled back: %#v", Next(o))
	}
	o.Cluster.Record = o.Cluster.Apply(back, o)
	o.Cluster.Version = former
	removal := RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonSpecChanged}
	for title, change := range map[string]func(*Observed){
		"nothing else is due":     func(*Observed) {},
		"the other one has to go": func(o *Observed) { o.Pods[0].Drift.Template = true },
		"the cluster grows":       func(o *Observed) { o.Cluster.Size = 3 },
	} {
		if got := Next(edit(o, change)); got != removal {
			t.Errorf("%s: %#v", title, got)
		}
	}
	refused := edit(o, func(o *Observed) {
		o.Refused = []Refusal{{Target: TargetOf(removal), Since: o.Now, RetryAt: o.Now.Add(time.Minute)}}
	})
	if act, promotes := Next(refused).(Promote); promotes {
		t.Errorf("it cannot be removed, and is to vote: %#v", act)
	}
	differs := alarmed(o, Alarm{AlarmCorrupt, id(1)})
	stops := edit(silent(differs, 1), func(o *Observed) {
		o.Pods[1].Deleting, o.Pods[1].Deadline = true, now.Add(time.Hour)
		o.Volumes[1].ClusterID, o.Volumes[1].MemberID = recordedID, id(1)
	})
	for _, o := range []Observed{differs, stops} {
		switch act := Next(o).(type) {
		case Promote, RemoveMember:
			t.Errorf("its data may be right, or wrong: %#v", act)
		default:
		}
	}
	named := edit(o, func(o *Observed) { o.Cluster.Version, o.Cluster.NewestPatch = newest, "" })
	if _, promotes := Next(named).(Promote); !promotes {
		t.Errorf("a user has named the release: %#v", Next(named))
	}
}

// TestFirstMemberMadeAnew takes a member that has the name of the first one, and the former release, for another one: the first one is lost.
func TestFirstMemberMadeAnew(t *testing.T) {
	anew := func(o *Observed) {
		o.Etcd = healthyCluster(3, true).Etcd
		o.Pods[1].UID, o.Pods[1].Ready, o.Etcd.Members[1].ID, o.Volumes[1].MemberID = "anew", true, id(7), id(7)
		o.Etcd.Answers[1].PodUID, o.Etcd.Answers[1].MemberID = "anew", id(7)
		for i := range o.Pods {
			o.Pods[i].Version, o.Volumes[i].Version, o.Etcd.Answers[i].Version = former, former, former
		}
	}
	failed := patchable(chose(former, time.Hour), updated(1, false, time.Minute), anew)
	const says = "c-1, which was the first member to run etcd 3.6.16, was lost"
	for mode, reason := range map[Mode]string{ModeAdvise: v1beta2.ReasonAutopilotAdvises, ModeOff: v1beta2.ReasonPatchHeld} {
		o := edit(failed, func(o *Observed) { o.Cluster.Autopilot.Patches = mode })
		if held := heldBy(Assess(passed(o, time.Hour))); !strings.HasPrefix(held, reason+" "+says) {
			t.Errorf("%s: held: %q", mode, held)
		}
	}
	if act, retreats := Next(failed).(CommitTuning); !retreats || act.Patch.Version != former || !strings.HasPrefix(act.Because, says) {
		t.Errorf("it had failed: %#v", Next(failed))
	}
	well := patchable(chose(former, time.Hour), updated(1, true, time.Minute), anew)
	if p := passed(well, 0).Cluster.Tuned.Patch; p.Trial != (PatchTrial{}) || p.Version != newest || !p.Since.Equal(now) {
		t.Errorf("it had not: %+v", p)
	}
}
