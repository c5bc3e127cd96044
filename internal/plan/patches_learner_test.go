package plan

import (
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

// TestLearnerFailsTrial has a learner with a release that was taken back go, and never vote, although it is healthy again.
func TestLearnerFailsTrial(t *testing.T) {
	o := passed(joining(chose(former, time.Minute), func(o *Observed) {
		o.Pods[1].Version, o.Volumes[1].Version, o.Etcd.Answers[1].Version = newest, newest, newest
	}), 5*time.Minute)
	o.Pods[1].Restarts = 1
	back, ok := Next(o).(CommitTuning)
	if !ok || back.Refused.Version != newest {
		t.Fatalf("it is not taken back: %#v", Next(o))
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
	named := edit(o, func(o *Observed) { o.Cluster.Version, o.Cluster.NewestPatch = newest, "" })
	if _, promotes := Next(named).(Promote); !promotes {
		t.Errorf("a user has named the release: %#v", Next(named))
	}
}
