package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// takenBack is a cluster of one, or of two that is to have one member, whose learner c-1 has tried a release. etcd found then that data differs, and
// the release was rolled back; the alarm stands.
func takenBack(changes ...func(*Observed)) Observed {
	o := alarmed(passed(joining(chose(former, time.Minute), func(o *Observed) {
		o.Pods[1].Version, o.Volumes[1].Version, o.Etcd.Answers[1].Version = newest, newest, newest
		o.Volumes[1].ClusterID, o.Volumes[1].MemberID = recordedID, id(1)
	}), 5*time.Minute), Alarm{AlarmCorrupt, id(1)})
	o.Cluster.Record, o.Cluster.Version = o.Cluster.Apply(Next(o), o), former
	return edit(o, changes...)
}

// named has a user ask for the release that was rolled back.
func named(o *Observed) { o.Cluster.Version, o.Cluster.NewestPatch = newest, "" }

// votes has the learner be the voter that leads, and is up to date, while the other one is about to go.
func votes(o *Observed) {
	named(o)
	o.Etcd.Members[1].Learner, o.Etcd.Answers[1].Learner = false, false
	o.Pods[0].Ready, o.Pods[1].Ready, o.Pods[0].InService, o.Pods[1].InService = false, false, false, true
	o.Cluster.Voters, o.Cluster.NextVoters = []string{"c-0", "c-1"}, []string{"c-1"}
	for i := range o.Etcd.Answers {
		o.Etcd.Answers[i].Leader = id(1)
	}
}

// fails has the learner's pod not start for an hour, and its volume be whole.
func fails(o *Observed) {
	o.Etcd.Answers, o.Pods[0].ReadyChanged = o.Etcd.Answers[:1], now.Add(-2*time.Hour)
	o.Pods[1].Ready, o.Pods[1].Created, o.Pods[1].ReadyChanged = false, now.Add(-time.Hour), now.Add(-time.Hour)
}

// TestNobodyGoesWhileDataIsDisputed: while etcd says that data differs, and no majority has proven whose is wrong, no learner gets a vote, and nobody
// goes whose data is there.
func TestNobodyGoesWhileDataIsDisputed(t *testing.T) {
	pending := func(o *Observed) {
		fails(o)
		o.Pods[1].Phase, o.Pods[1].StartProblem = Pending, "cannot be scheduled: 0/3 nodes are available"
	}
	unreadable := func(o *Observed) {
		fails(o)
		o.Pods[1].Exit = ExitUnreadable
	}
	damaged := func(o *Observed) {
		fails(o)
		o.Pods[1].Exit, o.Pods[0].Version = ExitCorrupt, newest
	}
	nodeLost := func(o *Observed) {
		fails(o)
		o.Pods[1].Deleting, o.Pods[1].Deadline = true, now.Add(-time.Hour)
	}
	for title, change := range map[string]func(*Observed){
		"the release is named":           named,
		"the one named by the alarm":     votes,
		"no node takes its pod":          pending,
		"its data cannot be read":        unreadable,
		"etcd says that it is damaged":   damaged,
		"its node is lost":               nodeLost,
		"the voter has to be replaced":   func(o *Observed) { named(o); o.Pods[0].Drift.Template = true },
		"the alarm names nobody":         func(o *Observed) { *o = alarmed(edit(*o, named), Alarm{AlarmCorrupt, 0}) },
		"the alarm names the only voter": func(o *Observed) { *o = alarmed(edit(*o, named), Alarm{AlarmCorrupt, id(0)}) },
		"one is named that has gone":     func(o *Observed) { *o = alarmed(edit(*o, named), Alarm{AlarmCorrupt, id(7)}) },
	} {
		switch act := Next(takenBack(change)).(type) {
		case Promote, RemoveMember, MoveLeader:
			t.Errorf("%s: %#v", title, act)
		default:
		}
	}
	if act, ok := Next(takenBack(pending, func(o *Observed) { o.Volumes = o.Volumes[:1] })).(RemoveMember); !ok || act.Why != v1beta2.ReasonVolumeLost {
		t.Errorf("its data is gone: %#v", act)
	}
}

// TestDisputedWithoutATrial: that goes for any learner, and for a voter too many.
func TestDisputedWithoutATrial(t *testing.T) {
	replaced := joining(func(o *Observed) { o.Cluster.NewestPatch, o.Pods[0].Drift.Template = former, true })
	if act, promotes := Next(replaced).(Promote); !promotes {
		t.Fatalf("without an alarm: %#v", act)
	}
	shrinks := edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Size, o.Budget.MinAvailable = 1, 3 })
	if act, leaves := Next(shrinks).(RemoveFromService); !leaves {
		t.Fatalf("without an alarm: %#v", act)
	}
	tooMany := edit(withLearner(healthyCluster(2, true), 2), func(o *Observed) { o.Cluster.Size = 1 })
	if act, goes := Next(tooMany).(RemoveMember); !goes || act.Name != "c-2" {
		t.Fatalf("without an alarm: %#v", act)
	}
	for _, o := range []Observed{
		alarmed(replaced, Alarm{AlarmCorrupt, id(1)}), alarmed(shrinks, Alarm{AlarmCorrupt, id(2)}), alarmed(tooMany, Alarm{AlarmCorrupt, id(2)}),
	} {
		switch act := Next(o).(type) {
		case Promote, RemoveMember, MoveLeader, RemoveFromService:
			t.Errorf("%#v", act)
		default:
		}
	}
}

// TestProvenWrong: where a majority has proven the member wrong that the alarm names, its replacement gets a vote, and it goes.
func TestProvenWrong(t *testing.T) {
	accused := alarmed(unserved(quarantined(healthyCluster(3, true), 1), 1), Alarm{AlarmCorrupt, id(1)})
	joins := edit(started(withLearner(silent(accused, 2), 3)), func(o *Observed) {
		a := answerOf(3)
		a.Learner, o.Budget.MinAvailable = true, 4
		o.Etcd.Answers, o.Cluster.NextVoters = append(o.Etcd.Answers, a), []string{"c-0", "c-1", "c-2", "c-3"}
	})
	if act, promotes := Next(joins).(Promote); !promotes {
		t.Errorf("its replacement: %#v", Next(joins))
	} else if act.Name != "c-3" {
		t.Errorf("its replacement: %#v", act)
	}
	if act, goes := Next(closed(accused)).(RemoveMember); !goes || act.Name != "c-1" {
		t.Errorf("the member: %#v", act)
	}
	both := alarmed(joins, Alarm{AlarmCorrupt, id(1)}, Alarm{AlarmCorrupt, id(2)})
	if act, promotes := Next(both).(Promote); promotes {
		t.Errorf("another one is named as well: %#v", act)
	}
}

// TestWhomToDelete: a member may be told to differ alone only where two other healthy voters can agree. What is to go once the alarm is disarmed has a
// copy made.
func TestWhomToDelete(t *testing.T) {
	const (
		deletes = "Only if c-1 alone differs from two or more others that agree, delete its volume"
		copies  = "a learner that has tried an etcd release that was rolled back, are removed with their data. If that may be what is right, set spec.paused to true first"
	)
	untried := joining(func(o *Observed) { o.Cluster.NewestPatch = former })
	more := healthyCluster(3, true)
	more.Etcd.Members[1].Learner = true
	for title, c := range map[string]struct {
		o       Observed
		deletes bool
	}{
		"one of three voters":                {healthyCluster(3, true), true},
		"one of three, and another is down":  {silent(healthyCluster(3, true), 2), false},
		"one of two voters":                  {healthyCluster(2, true), false},
		"a learner beside two voters":        {more, true},
		"a learner beside one":               {untried, false},
		"a learner that has tried a release": {takenBack(), false},
		"which is named":                     {takenBack(named), false},
	} {
		says := Assess(alarmed(c.o, Alarm{AlarmCorrupt, id(1)})).Alarm.Message
		if strings.Contains(says, deletes) != c.deletes || !strings.Contains(says, copies) {
			t.Errorf("%s: %s", title, says)
		}
	}
	if says := Assess(alarmed(takenBack(), Alarm{AlarmCorrupt, id(0)})).Alarm.Message; !strings.Contains(says, copies) {
		t.Errorf("the other one is named: %s", says)
	}
}
