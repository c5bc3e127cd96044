package plan

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestNobodyLearnsFromTheSuspect: where its replacement is held, the evidence is of one compaction, or a voter of the comparison has gone, a
// leader whose data differs hands over leadership before a learner joins.
func TestNobodyLearnsFromTheSuspect(t *testing.T) {
	o := healthyCluster(3, true)
	two := withoutSecond(compared(o, nil, nil))
	for title, o := range map[string]Observed{
		"the mode is Advise":         mode(differs(o, 0), ModeAdvise),
		"it waits for its turn":      edit(differs(o, 0), func(o *Observed) { o.MayDisturb = false }),
		"one compaction so far":      compared(o, nil, []int64{1, 0, 0}),
		"one of the others has gone": edit(two, func(o *Observed) { o.Cluster.Doubt.Suspect = id(0) }),
	} {
		got, ok := learnFromTheRight(newView(o), AddLearner{Name: name(3)}).(MoveLeader)
		if !ok || got.From != id(0) || got.To == id(0) {
			t.Errorf("%s: %#v", title, got)
		}
	}
	for title, o := range map[string]Observed{
		"the mode is Off":      trusted(differs(o, 0)),
		"another one differs":  differs(o, 1),
		"it is the same again": compared(o, []int64{1, 0, 0}, []int64{0, 0, 0}),
	} {
		if got := learnFromTheRight(newView(o), AddLearner{Name: name(3)}); got != nil {
			t.Errorf("%s: %#v", title, got)
		}
	}
}

// TestWhoLearnedFromTheSuspectGoes: a learner that runs has what the leader has, and would be its majority.
func TestWhoLearnedFromTheSuspectGoes(t *testing.T) {
	o := started(withLearner(compared(healthyCluster(3, true), nil, []int64{1, 0, 0}), 3))
	if got, ok := learnFromTheRight(newView(o), Promote{ID: id(3), Name: name(3)}).(RemoveMember); !ok || got.Name != name(3) {
		t.Errorf("%#v", got)
	}
	for _, a := range []Action{AddLearner{Name: name(4)}, Promote{ID: id(3), Name: name(3)}, WritePermits{[]PodPermit{{Pod: name(3)}}}} {
		split := newView(compared(o, nil, []int64{0, 1, 2}))
		if got, ok := learnFromTheRight(split, a).(Wait); !ok || got.Reason != v1beta2.ReasonDivergedMemberHeld {
			t.Errorf("nobody knows whose is right, and %T becomes %#v", a, got)
		}
	}
}

// TestTheWrongCannotHoldUpItsRemoval: that it is being defragmented is what its own metrics say.
func TestTheWrongCannotHoldUpItsRemoval(t *testing.T) {
	o := edit(quarantined(surveyed(3), 1), func(o *Observed) { o.Etcd.Databases[1].Defragmenting = now })
	if got := awaitDefragmentation(newView(o), RemoveMember{ID: id(1), Name: name(1)}); got != nil {
		t.Errorf("its removal: %#v", got)
	}
	if got, ok := awaitDefragmentation(newView(o), RemoveMember{ID: id(2), Name: name(2)}).(Wait); !ok || got.Reason != v1beta2.ReasonDefragmenting {
		t.Errorf("that of another one: %#v", got)
	}
}

// TestNobodyLearnsFromTheWrong: while nobody else can lead, no learner joins, starts or is promoted.
func TestNobodyLearnsFromTheWrong(t *testing.T) {
	o := silent(silent(unserved(quarantined(healthyCluster(3, true), 0), 0), 1), 2)
	for _, a := range []Action{
		AddLearner{Name: name(3)}, Promote{ID: id(3), Name: name(3)}, WritePermits{[]PodPermit{{Pod: name(3)}}},
	} {
		v := newView(withLearner(o, 3))
		if got, ok := learnFromTheRight(v, a).(Wait); !ok || got.Reason != v1beta2.ReasonDivergedMember {
			t.Errorf("%T: %#v", a, got)
		}
		v.Leader = id(1)
		if got := learnFromTheRight(v, a); got != nil {
			t.Errorf("%T while another one leads: %#v", a, got)
		}
	}
	v := newView(o)
	if got := learnFromTheRight(v, WritePermits{[]PodPermit{{Pod: name(1)}}}); got != nil {
		t.Errorf("a voter may not start: %#v", got)
	}
}
