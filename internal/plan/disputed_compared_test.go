package plan

import (
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// shrinking is a cluster of three that is to have one member, and leads with c-1.
func shrinking(first, second []int64) Observed {
	return edit(compared(healthyCluster(3, true), first, second), func(o *Observed) {
		o.Cluster.Size, o.Budget.MinAvailable = 1, 2
		for i := range o.Etcd.Answers {
			o.Etcd.Answers[i].Leader = id(1)
		}
	})
}

// quarantines has status say that the voter with that index is being replaced.
func quarantines(o Observed, i int) Observed {
	return edit(o, func(o *Observed) { o.Cluster.Quarantined = Quarantined{Member: id(i), Name: name(i)} })
}

// TestSuspicionKeepsVoters: while a comparison of the operator's own says that a voter's data differs, no voter goes that does not have to, the suspect
// included: what is left might be wrong.
func TestSuspicionKeepsVoters(t *testing.T) {
	if m := newView(shrinking([]int64{7, 7, 7}, []int64{7, 7, 7})).NextToRemove; m.ID == 0 {
		t.Fatal("with the same data nobody goes either")
	}
	for title, o := range map[string]Observed{
		"the leader differs":      shrinking([]int64{7, 8, 7}, nil),
		"a follower differs":      shrinking([]int64{7, 7, 8}, nil),
		"all differ":              shrinking([]int64{7, 8, 9}, nil),
		"Auto Pilot only advises": mode(shrinking([]int64{7, 8, 7}, []int64{7, 8, 7}), ModeAdvise),
		"another is quarantined":  quarantines(shrinking([]int64{7, 8, 9}, nil), 2),
	} {
		if m := newView(o).NextToRemove; m.ID != 0 {
			t.Errorf("%s: %s goes", title, m.Name)
		}
		o.Pods[2].InService = o.Cluster.Quarantined.Member == 0
		o.Volumes[2].Quarantined = !o.Pods[2].InService
		wait, waits := Next(o).(Wait)
		if !waits || wait.Reason != v1beta2.ReasonDivergedMemberHeld || !strings.Contains(wait.Message, ", because the data of ") {
			t.Errorf("%s: %#v", title, Next(o))
		}
	}
	sleepy := edit(compared(healthyCluster(3, true), []int64{7, 8, 7}, nil), func(o *Observed) { o.Cluster.Hibernate = true })
	if wait, waits := Next(sleepy).(Wait); !waits || !strings.HasPrefix(wait.Message, "the members are not stopped, because the data of c-1") {
		t.Errorf("to be stopped: %#v", Next(sleepy))
	}
	if m := newView(quarantines(shrinking([]int64{7, 7, 8}, nil), 2)).NextToRemove; m.Name != "c-2" {
		t.Errorf("c-2 is proven wrong, and %q goes", m.Name)
	}
}

// TestSplitPromotesNobody: a learner has its data from a leader that may be wrong, and would be its majority.
func TestSplitPromotesNobody(t *testing.T) {
	joins := func(hashes ...int64) Observed {
		o := edit(started(withLearner(healthyCluster(3, false), 3)), func(o *Observed) {
			for i := range 3 {
				o.Pods[i].Drift.Template = true
			}
			a := answerOf(3)
			a.Learner, o.Etcd.Answers = true, append(slices.Clone(o.Etcd.Answers[:3]), a)
			o.Budget.MinAvailable, o.Cluster.NextVoters = 4, []string{"c-0", "c-1", "c-2", "c-3"}
		})
		return compared(o, hashes, nil)
	}
	for title, o := range map[string]Observed{"the same data": joins(7, 7, 7), "one that does not lead is suspected": joins(7, 7, 8)} {
		if _, promotes := Next(o).(Promote); !promotes {
			t.Errorf("%s: %#v", title, Next(o))
		}
	}
	if act := Next(joins(7, 8, 9)); act != nil {
		if wait, waits := act.(Wait); !waits || wait.Reason != v1beta2.ReasonDivergedMemberHeld || !strings.HasPrefix(wait.Message, "no member is updated, because the data of the 3 voters differs") {
			t.Errorf("all differ: %#v", act)
		}
	}
}

// passes are some of the operator, which remembers what it has recorded, and compares the voters anew.
func passes(o Observed, comparisons ...[]int64) Observed {
	for _, hashes := range comparisons {
		c := Comparison{Revision: 1}
		for i, hash := range hashes {
			c.Hashes = append(c.Hashes, MemberHash{Member: o.Etcd.Members[i].ID, Hash: hash})
		}
		o.Etcd.Compared = append(slices.Clone(o.Etcd.Compared), c)
		o.Etcd.Compared = o.Etcd.Compared[max(0, len(o.Etcd.Compared)-2):]
		o.Cluster.Record = o.Cluster.Apply(nil, o)
	}
	return o
}

// trusted has the user switch the feature itself off.
func trusted(o Observed) Observed {
	return edit(mode(o, ModeOff), func(o *Observed) { o.Cluster.Autopilot.Trusted = true })
}

// withoutVoter is what is observed once etcd does not list that member any more.
func withoutVoter(o Observed, i int) Observed {
	return edit(silent(o, i), func(o *Observed) {
		o.Etcd.Members = slices.DeleteFunc(o.Etcd.Members, func(m Member) bool { return m.ID == id(i) })
		o.Etcd.Compared = nil
	})
}

// TestDoubtComesBackWithARestore: it is known in the very pass in which a restore begins.
func TestDoubtComesBackWithARestore(t *testing.T) {
	o := compared(healthyCluster(3, true), nil, []int64{7, 8, 9})
	r := o.Cluster.Apply(CommitBootstrap{Bootstrap: newView(o).newBootstrap(2, []string{"c-3"}, "restore")}, o)
	if r.Previous == nil || r.Previous.Doubt != (Doubt{Split: true}) || r.Doubt != (Doubt{}) {
		t.Errorf("%+v", r)
	}
	if back := r.Apply(CancelRestore{}, o); back.Doubt != (Doubt{Split: true}) {
		t.Errorf("called off: %+v", back.Doubt)
	}
}

// TestSuspectLeadsLast: a new member gets its data from the leader.
func TestSuspectLeadsLast(t *testing.T) {
	v := newView(edit(passes(mode(healthyCluster(3, true), ModeOn), []int64{7, 7, 8}), func(o *Observed) { o.Etcd.Answers[2].Applied++ }))
	if to := v.nextLeader(v.voters[0]); to.ID != id(1) {
		t.Errorf("%s is to lead", to.Name)
	}
}

// TestDoubtIsRecorded: a new process has compared nothing, and those who agreed count even if one of them was lost.
func TestDoubtIsRecorded(t *testing.T) {
	three := mode(healthyCluster(3, true), ModeOn)
	forgets := func(o Observed) Observed { return edit(o, func(o *Observed) { o.Etcd.Compared = nil }) }
	suspected := passes(three, []int64{7, 7, 8})
	paused := edit(suspected, func(o *Observed) { o.Cluster.Paused, o.Cluster.Autopilot = true, Autopilot{} })
	lost := passes(withoutSecond(suspected), []int64{7, 8}, []int64{7, 8}, []int64{7, 8})
	for title, c := range map[string]struct {
		in   Observed
		want Doubt
	}{
		"all differ, and a new process":      {forgets(passes(three, []int64{7, 8, 9})), Doubt{Split: true}},
		"one differs, and a new process":     {forgets(suspected), Doubt{Suspect: id(2)}},
		"one of those who agreed is lost":    {lost, Doubt{Suspect: id(2)}},
		"and another new process":            {forgets(lost), Doubt{Suspect: id(2)}},
		"one of two":                         {passes(mode(healthyCluster(2, true), ModeOn), []int64{7, 8}), Doubt{Split: true}},
		"once the same":                      {passes(suspected, []int64{7, 7, 7}), Doubt{Suspect: id(2)}},
		"twice the same":                     {passes(suspected, []int64{7, 7, 7}, []int64{7, 7, 7}), Doubt{}},
		"the suspect is lost":                {passes(withoutSecond(passes(three, []int64{7, 8, 7})), []int64{7, 7}), Doubt{}},
		"the mode is Off":                    {trusted(suspected), Doubt{}},
		"a pause":                            {passes(paused, []int64{7, 7, 8}), Doubt{Suspect: id(2)}},
		"it is the only one left":            {passes(withoutVoter(withoutVoter(suspected, 0), 1)), Doubt{}},
		"another beside the quarantined one": {passes(quarantines(mode(healthyCluster(5, true), ModeOn), 4), []int64{7, 7, 7, 9, 8}), Doubt{Suspect: id(3)}},
		"the quarantined one alone":          {passes(quarantines(three, 2), []int64{7, 7, 8}), Doubt{}},
		"nobody beside the quarantined one":  {passes(quarantines(three, 2), []int64{7, 9, 8}), Doubt{Split: true}},
	} {
		if got := newView(c.in).Doubt; got != c.want {
			t.Errorf("%s: %+v, not %+v", title, got, c.want)
		}
		held := slices.ContainsFunc(Assess(c.in).Held, func(h HeldAct) bool { return h.Feature == FeatureDiverged })
		if !held && (c.want.Split || c.want.Suspect != 0 && c.in.Cluster.Quarantined.Member == 0 && !c.in.Cluster.Paused) {
			t.Errorf("%s: nothing is held", title)
		}
	}
}

// TestDoubtIsRecordedWhateverTheMode: to leave it to the user whose data is right holds up nothing, and does not make it right.
func TestDoubtIsRecordedWhateverTheMode(t *testing.T) {
	three := mode(healthyCluster(3, true), ModeOn)
	for title, c := range map[string]struct {
		in     Observed
		record Doubt
		heeds  bool
	}{
		"one is suspected":          {passes(trusted(passes(three, []int64{7, 7, 8})), []int64{7, 7, 8}), Doubt{Suspect: id(2)}, false},
		"all differ":                {passes(trusted(passes(three, []int64{7, 8, 9})), []int64{7, 8, 9}), Doubt{Split: true}, false},
		"all differ, and On again":  {mode(passes(trusted(passes(three, []int64{7, 8, 9})), []int64{7, 8, 9}), ModeOn), Doubt{Split: true}, true},
		"the same since":            {passes(trusted(passes(three, []int64{7, 8, 9})), []int64{7, 7, 7}, []int64{7, 7, 7}), Doubt{}, false},
		"nothing was ever compared": {trusted(three), Doubt{}, false},
		"all of Auto Pilot is off":  {mode(passes(three, []int64{7, 8, 9}), ModeOff), Doubt{Split: true}, true},
	} {
		o := edit(c.in, func(o *Observed) {
			o.Cluster.Autopilot.Trusted = o.Cluster.Autopilot.Trusted && o.Cluster.Autopilot.Diverged == ModeOff
			o.Cluster.Size, o.Budget.MinAvailable = 1, 2
		})
		if o.Cluster.Doubt != c.record {
			t.Errorf("%s: %+v is recorded, not %+v", title, o.Cluster.Doubt, c.record)
		}
		v := newView(o)
		if goes := v.NextToRemove.ID != 0; goes == c.heeds {
			t.Errorf("%s: one that is too many goes: %t", title, goes)
		}
		if held := len(v.Held) > 0; held != (c.record != Doubt{}) {
			t.Errorf("%s: %+v", title, v.Held)
		}
	}
}

// TestDisputedDataStays: while it is disputed whose data is right, no eviction ends one on an emptyDir, and the volume of a member that has gone stays.
func TestDisputedDataStays(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		o := alarmed(healthyCluster(3, persistent), Alarm{AlarmCorrupt, 0})
		if act, sets := Next(o).(SetBudget); sets == persistent || sets && act.MinAvailable != 3 {
			t.Errorf("on volumes: %t: %#v", persistent, Next(o))
		}
		o.Budget.MinAvailable = 3
		if act, sets := Next(o).(SetBudget); sets {
			t.Errorf("on volumes: %t: %#v", persistent, act)
		}
	}
	orphan := edit(withoutPod(withoutSecond(healthyCluster(3, true)), 1), func(o *Observed) { o.Cluster.Size, o.Budget.MinAvailable = 2, 2 })
	if _, deletes := Next(orphan).(DeleteVolume); !deletes {
		t.Fatalf("without an alarm: %#v", Next(orphan))
	}
	if act, deletes := Next(alarmed(orphan, Alarm{AlarmCorrupt, 0})).(DeleteVolume); deletes {
		t.Errorf("%#v", act)
	}
}

// TestQuarantinedStaysWhileOthersAreNamed: a majority has proven one wrong, and then etcd names another one, too.
func TestQuarantinedStaysWhileOthersAreNamed(t *testing.T) {
	o := closed(unserved(quarantined(healthyCluster(3, false), 1), 1))
	o.Cluster.NextVoters = []string{"c-0", "c-2"}
	if act, goes := Next(alarmed(o, Alarm{AlarmCorrupt, id(1)})).(RemoveMember); !goes || act.Name != "c-1" {
		t.Fatalf("it alone is named: %#v", Next(alarmed(o, Alarm{AlarmCorrupt, id(1)})))
	}
	if act, goes := Next(alarmed(o, Alarm{AlarmCorrupt, id(1)}, Alarm{AlarmCorrupt, id(2)})).(RemoveMember); goes {
		t.Errorf("%#v", act)
	}
}

// TestRelocationEndsInADispute: no new member gets a vote, which is no matter of nodes.
func TestRelocationEndsInADispute(t *testing.T) {
	act, gives := Next(alarmed(moving(3, 3, 0, ModeOn), Alarm{AlarmCorrupt, 0})).(CommitRelocation)
	if want := "it is not known whose data is right: no new member gets a vote"; !gives || act.GivenUp != want {
		t.Errorf("given up: %q", act.GivenUp)
	}
}
