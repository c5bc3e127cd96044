package status

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestHeld keeps the time while something is held for the same reason, and what it knows while there is no quorum.
func TestHeld(t *testing.T) {
	const space, waits, unclear = v1beta2.ReasonNoSpace, v1beta2.ReasonWaitingForWindow, v1beta2.ReasonDivergedMemberUnclear
	now := threeMembers().Observed.Now
	early, late := metav1.NewTime(now.Add(-time.Hour)), metav1.NewTime(now)
	act := func(feature, reason, message string, since metav1.Time) v1beta2.HeldAct {
		return v1beta2.HeldAct{Feature: feature, Reason: reason, Message: message, Since: since}
	}
	told := func(feature, reason, message string) plan.HeldAct {
		return plan.HeldAct{Feature: feature, Reason: reason, Message: message}
	}
	for title, c := range map[string]struct {
		before []v1beta2.HeldAct
		now    []plan.HeldAct
		silent bool
		modes  plan.Autopilot
		want   []v1beta2.HeldAct
		same   int // comparisons found the data to be the same
	}{
		"nothing":        {},
		"something":      {now: []plan.HeldAct{told("noSpace", space, "m")}, want: []v1beta2.HeldAct{act("noSpace", space, "m", late)}},
		"by feature":     {now: []plan.HeldAct{told("noSpace", space, "m"), told("defragment", waits, "n")}, want: []v1beta2.HeldAct{act("defragment", waits, "n", late), act("noSpace", space, "m", late)}},
		"once":           {now: []plan.HeldAct{told("noSpace", space, "m"), told("noSpace", waits, "n")}, want: []v1beta2.HeldAct{act("noSpace", space, "m", late)}},
		"still":          {[]v1beta2.HeldAct{act("noSpace", space, "l", early)}, []plan.HeldAct{told("noSpace", space, "m")}, false, plan.Autopilot{}, []v1beta2.HeldAct{act("noSpace", space, "m", early)}, 0},
		"another reason": {[]v1beta2.HeldAct{act("noSpace", waits, "l", early)}, []plan.HeldAct{told("noSpace", space, "m")}, false, plan.Autopilot{}, []v1beta2.HeldAct{act("noSpace", space, "m", late)}, 0},
		"no longer":      {before: []v1beta2.HeldAct{act("noSpace", space, "m", early)}},
		"data differed, and nothing was compared since": {before: []v1beta2.HeldAct{act("divergedMember", unclear, "m", early)}, want: []v1beta2.HeldAct{act("divergedMember", unclear, "m", early)}},
		"data differed, and was the same once":          {before: []v1beta2.HeldAct{act("divergedMember", unclear, "m", early)}, same: 1, want: []v1beta2.HeldAct{act("divergedMember", unclear, "m", early)}},
		"data differed, and was the same twice":         {before: []v1beta2.HeldAct{act("divergedMember", unclear, "m", early)}, same: 2},
		"no quorum": {
			before: []v1beta2.HeldAct{act("defragment", waits, "n", early), act("noSpace", space, "m", early)}, silent: true,
			modes: plan.Autopilot{NoSpace: plan.ModeAdvise}, want: []v1beta2.HeldAct{act("noSpace", space, "m", early)},
		},
	} {
		t.Run(title, func(t *testing.T) {
			got := Compute(edited(threeMembers(), func(in *Input) {
				in.Assessment.Held, in.Observed.Cluster.Autopilot = c.now, c.modes
				agreed(in, c.same)
				if c.silent {
					in.Observed.Etcd = plan.Etcd{}
				}
				if len(c.before) > 0 {
					in.Cluster.Status.Autopilot, in.Cluster.Status.Doubt = &v1beta2.AutopilotStatus{Held: c.before}, &v1beta2.DataDoubt{}
				}
			})).Autopilot
			if (got == nil) != (len(c.want) == 0) || got != nil && !slices.Equal(got.Held, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// agreed has so many comparisons find all data to be the same.
func agreed(in *Input, times int) {
	for i := range times {
		same := plan.Comparison{Revision: int64(i + 1)}
		for _, m := range in.Observed.Etcd.Members {
			same.Hashes = append(same.Hashes, plan.MemberHash{Member: m.ID, Hash: 7})
		}
		in.Observed.Etcd.Compared = append(in.Observed.Etcd.Compared, same)
	}
}

// TestDataInDoubt: what is held about members whose data differs, and what is recorded of it, are one fact, also where only etcd's alarm tells of it.
func TestDataInDoubt(t *testing.T) {
	const unclear = v1beta2.ReasonDivergedMemberUnclear
	heldBefore := &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{{Feature: plan.FeatureDiverged, Reason: unclear, Message: "m"}}}
	split, alarm := &v1beta2.DataDoubt{Split: true}, &v1beta2.DataDoubt{}
	corrupt := []metav1.Condition{{Type: v1beta2.ConditionAvailable, Reason: v1beta2.ReasonCorrupt}}
	silent := func(in *Input) { in.Observed.Etcd = plan.Etcd{} }
	off := func(in *Input) { in.Observed.Cluster.Autopilot.Trusted = true }
	for title, c := range map[string]struct {
		before     *v1beta2.DataDoubt
		conditions []metav1.Condition
		now        func(*Input)
		want       *v1beta2.DataDoubt
	}{
		"no majority agrees":                      {split, nil, func(*Input) {}, split},
		"no majority agrees, and the mode is Off": {split, nil, off, split},
		"no majority agrees, and none is there":   {split, nil, silent, split},
		"etcd's alarm is raised":                  {nil, corrupt, func(in *Input) { alarmed(in, plan.AlarmCorrupt) }, alarm},
		"etcd's alarm, and then no quorum":        {alarm, corrupt, silent, alarm},
		"etcd's alarm was disarmed":               {alarm, corrupt, func(*Input) {}, alarm},
		"it was, and data was the same twice":     {alarm, corrupt, func(in *Input) { agreed(in, 2) }, nil},
		"a member was replaced for it": {alarm, corrupt, func(in *Input) {
			in.Cluster.Status.Quarantined = &v1beta2.QuarantinedMember{MemberID: formatID(9), Name: "gone"}
		}, nil},
	} {
		got := compute(edited(allAnswer(), func(in *Input) {
			in.Cluster.Status.Autopilot, in.Cluster.Status.Doubt, in.Cluster.Status.Conditions = heldBefore, c.before, c.conditions
			c.now(in)
		}))
		if (got.Doubt == nil) != (c.want == nil) || got.Doubt != nil && *got.Doubt != *c.want {
			t.Errorf("%s: %+v is recorded, not %+v", title, got.Doubt, c.want)
		}
		if held := got.Autopilot != nil && len(got.Autopilot.Held) > 0; held != (c.want != nil) {
			t.Errorf("%s: held: %t", title, held)
		}
		if next := RecordOf(&got).Doubt; c.want != nil && next != (plan.Doubt{Split: c.want.Split}) {
			t.Errorf("%s: the next pass reads %+v", title, next)
		}
	}
}

// TestOperatorMode is shown where the operator bounds Auto Pilot, so that whoever asks for more sees why nothing is done.
func TestOperatorMode(t *testing.T) {
	for mode, want := range map[v1beta2.AutopilotMode]v1beta2.AutopilotMode{
		"": "", v1beta2.AutopilotOn: "", v1beta2.AutopilotAdvise: v1beta2.AutopilotAdvise, v1beta2.AutopilotOff: v1beta2.AutopilotOff,
	} {
		got := Compute(edited(threeMembers(), func(in *Input) { in.OperatorMode = mode })).Autopilot
		if (got == nil) != (want == "") || got != nil && got.OperatorMode != want {
			t.Errorf("%q: got %+v", mode, got)
		}
	}
}

// TestChosenVersionIsShown as long as the spec asks for its minor release, whether or not anything is held.
func TestChosenVersionIsShown(t *testing.T) {
	chosen := &v1beta2.ChosenVersion{Version: "3.6.16", Since: metav1.NewTime(at)}
	after := func(newest string) *v1beta2.AutopilotStatus {
		return Compute(edited(threeMembers(), func(in *Input) {
			in.Cluster.Status.Autopilot = &v1beta2.AutopilotStatus{Version: chosen}
			in.Observed.Cluster.NewestPatch = newest
		})).Autopilot
	}
	if got := after("3.6.17"); got == nil || got.Version == nil || *got.Version != *chosen {
		t.Errorf("got %+v", got)
	}
	for _, newest := range []string{"", "3.7.3"} {
		if got := after(newest); got != nil {
			t.Errorf("the newest one is %q now, and it is %+v", newest, got)
		}
	}
}
