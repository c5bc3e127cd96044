package plan

import (
	"slices"
	"strings"
	"testing"
)

// unrecorded takes members out of the record of voters, and has the answers judged as they are when they come in.
func unrecorded(o Observed, names ...string) Observed {
	return edit(o, func(o *Observed) {
		o.Cluster.Voters = slices.DeleteFunc(slices.Clone(o.Cluster.Voters), func(n string) bool { return slices.Contains(names, n) })
		var said []Response
		for _, a := range o.Etcd.Answers {
			said = append(said, Response{Answer: a})
		}
		o.Etcd = o.Electorate().Judge(said)
	})
}

// TestRecoveryHearsTheUnrecorded: who joined since the voters were recorded may have most, or be part of a quorum that nobody sees.
func TestRecoveryHearsTheUnrecorded(t *testing.T) {
	ahead := edit(leftWith(5, true, 1, 3), func(o *Observed) { o.Etcd.Answers[1].Applied, o.Etcd.Answers[1].Revision = 120, 110 })
	got := Assess(unrecorded(ahead, "c-3")).Recovery
	if got == nil || got.Survivor != "c-3" || slices.Contains(got.Silent, "c-3") || got.HeldBack != "" ||
		!strings.Contains(got.Message, "c-3 entry 120, revision 110; c-1 entry") {
		t.Errorf("one that joined has most: %+v", got)
	}
	follows := edit(ahead, func(o *Observed) { o.Etcd.Answers[1].Leader = id(4) })
	got = Assess(unrecorded(follows, "c-3")).Recovery
	if got == nil || !strings.Contains(got.HeldBack, "find out whether c-3 may be part") {
		t.Errorf("one that joined follows a leader: %+v", got)
	}
	stranger := edit(unrecorded(ahead, "c-3"), func(o *Observed) { o.Etcd.Others[0].Pod = "c-9" })
	if got := Assess(stranger).Recovery; got == nil || got.Survivor != "c-1" {
		t.Errorf("a pod that was not permitted to start is heard: %+v", got)
	}
}

// TestRecoveryAwaitsTheMute: servers that take connections may serve clients who wait longer than the operator does.
func TestRecoveryAwaitsTheMute(t *testing.T) {
	mute := func(names ...string) string {
		return Assess(edit(leftWith(5, true, 1), func(o *Observed) { o.Etcd.Mute = names })).Recovery.HeldBack
	}
	if got := mute("c-0", "c-2"); !strings.Contains(got, "wait for an answer of c-0, c-2") {
		t.Errorf("with a majority that may serve: %q", got)
	}
	if got := mute("c-0"); got != "" {
		t.Errorf("with a minority: %q", got)
	}
}

// TestRecoveryAvoidsTheSuspect: one comparison is enough not to take a member's data where there is other data.
func TestRecoveryAvoidsTheSuspect(t *testing.T) {
	o := edit(leftWith(5, true, 1, 3), func(o *Observed) { o.Cluster.Doubt.Suspect = id(1) })
	if got := Assess(o).Recovery; got.Survivor != "c-3" || !slices.Equal(got.Wrong, []string{"c-1"}) {
		t.Errorf("the plan is %+v", got)
	}
	if got := Assess(trusted(o)).Recovery; len(got.Wrong) > 0 || got.Survivor != "c-1" || !strings.Contains(got.Message, "found to differ") {
		t.Errorf("the user judges the data, and the plan is %+v", got)
	}
}

// TestRecoveryTellsOfADispute: where no majority agreed, whoever holds most may be wrong.
func TestRecoveryTellsOfADispute(t *testing.T) {
	const says = "no majority agreed: what c-1 holds may be wrong"
	for split, want := range map[bool]bool{true: true, false: false} {
		o := edit(leftWith(3, true, 1), func(o *Observed) { o.Cluster.Doubt.Split = split })
		if got := Assess(o).Recovery; got == nil || strings.Contains(got.Message, says) != want {
			t.Errorf("%t: %+v", split, got)
		}
	}
}
