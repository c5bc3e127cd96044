package explain

import (
	"reflect"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

// width is that of the widest page.
const width = 100

// TestStates explains a cluster in each state. Every rule and guard that may be asked has a comment in the lists, nothing is wider
// than a terminal, and of two logs both are explained.
func TestStates(t *testing.T) {
	purposes, err := readPurposes()
	if err != nil {
		t.Fatal(err)
	}
	for state, c := range map[string]plan.Record{
		"unstarted":     {},
		"bootstrapping": {Bootstrap: &plan.Bootstrap{Incarnation: 1, Token: "t", Members: []string{"c-0"}, ClusterID: 1}},
		"restoring":     {Bootstrap: &plan.Bootstrap{Incarnation: 1, Token: "t", Members: []string{"c-0"}, ClusterID: 1, Restore: "r"}},
		"running":       {ID: 1},
	} {
		t.Run(state, func(t *testing.T) {
			o := plan.Observed{Cluster: plan.Cluster{Record: c, Namespace: "ns", Name: "c", UID: "u", Size: 1, Version: "3.6.16"}}
			e := plan.Explain(o)
			if e.State != state || len(e.Groups) < 2 {
				t.Fatalf("the explanation is %+v", e)
			}
			for _, g := range e.Groups {
				if purposes[g.Name] == "" {
					t.Errorf("group %s has no comment", g.Name)
				}
				for _, rule := range g.Rules {
					if purposes[g.Name+"/"+rule] == "" {
						t.Errorf("rule %s/%s has no comment", g.Name, rule)
					}
				}
			}
			for _, guard := range e.Guards {
				if purposes[guard] == "" {
					t.Errorf("guard %s has no comment", guard)
				}
			}
			text := ""
			for _, columns := range []int{80, width} {
				text = explain(replay.Pass{Observed: o}, purposes, columns)
				for line := range strings.Lines(text) {
					if n := len([]rune(line)) - 1; n > columns {
						t.Errorf("%d columns: %s", n, line)
					}
				}
			}
			if !strings.Contains(text, "APPLIES") || !strings.Contains(text, state) {
				t.Errorf("no rule applies in\n%s", text)
			}
		})
	}
}

// TestDecidedOtherwise says so where the operator has decided otherwise.
func TestDecidedOtherwise(t *testing.T) {
	p := replay.Pass{Decided: plan.Description{Action: "RecordClusterID", Reason: "Serving", Message: "up"}}
	p.Observed.Cluster.Name = "c"
	text := explain(p, purposes{}, width)
	if !strings.Contains(text, "The operator decided otherwise: RecordClusterID (Serving): up.") {
		t.Errorf("explained as\n%s", text)
	}
}

// TestAssessment tells every part of an assessment.
func TestAssessment(t *testing.T) {
	why := &failure.Problem{Reason: "Why", Message: "because"}
	wait := plan.Wait{Reason: "R", Message: "m"}
	a := plan.Assessment{
		NameTaken: wait, Healthy: []string{"c-0"}, Leader: 10, TargetSize: 3, MaxMembers: 4, Candidates: []plan.Pod{{Name: "c-1"}},
		Changes: map[string]plan.Change{"c-0": plan.ChangeReplace}, Updated: []string{"c-2"}, DownForUpdate: []string{"c-3"},
		NextToRemove: plan.Member{Name: "c-4"}, InProgress: wait, Recovery: &plan.Recovery{}, Alarm: why, Alarms: []plan.Alarm{{Kind: plan.AlarmNoSpace, Member: 10}}, SlowLeader: why, Laggards: why, RejectedSpec: why, Unrelated: why,
		Versions:     plan.Versions{Target: "3.6.16", Refused: why, Lowest: "3.5.35", DowngradeFirst: true, SnapshotsFirst: true},
		Update:       plan.Update{Blocker: wait, MissingImage: wait, Next: plan.Member{Name: "c-5"}, Step: wait},
		Defragmented: plan.Member{Name: "c-6"}, Room: plan.Upkeep{Step: plan.Compact{Revision: 9}, Member: plan.Member{Name: "c-7"}, Soon: true},
		Tidying: plan.Upkeep{Step: plan.Compact{Revision: 9}, Member: plan.Member{Name: "c-8"}, Soon: true},
		Doubt:   plan.Doubt{Suspect: 10, Split: true}, Quarantined: plan.Member{Name: "c-9"}, Diverged: plan.Member{Name: "c-10"},
		Held: []plan.HeldAct{{Feature: "noSpace", Reason: "R"}}, Feature: "noSpace",
		OnTrial:   plan.Patch{Version: "3.6.17", InsteadOf: "3.6.16", Trial: plan.PatchTrial{Member: "c-13"}},
		Tuning:    plan.CommitTuning{Tuned: plan.Tuned{Quota: 3 << 30}, From: 2 << 30, Member: "c-0"},
		Resizing:  plan.CommitTuning{Tuned: plan.Tuned{Resized: plan.Resized{Now: plan.Resources{CPU: 1300}}}, FromResources: plan.Resources{CPU: 1000}, Member: "c-0"},
		Following: plan.CommitTuning{Tuned: plan.Tuned{Patch: plan.Patch{Version: "3.6.16"}}, FromVersion: "3.6.15"}, Retreat: wait,
		Relocation: plan.CommitRelocation{Relocation: plan.Relocation{Name: "c-11", Node: "n"}}, Relocated: plan.Member{Name: "c-12"},
	}
	o := plan.Observed{}
	o.Etcd.Members = []plan.Member{{ID: 10, Name: "c-0"}}
	for i, v := 0, reflect.ValueOf(a); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the test lacks %s", v.Type().Field(i).Name)
		}
	}
	out := &page{width: width}
	out.assessment(o, a)
	for _, want := range []string{
		"Leader 000000000000000a, c-0\n", "Changes c-0 replace\n", "Versions.Refused Why: because\n", "Update.Next c-5\n",
		"InProgress Wait (R): m (looks again in 0s)\n", "Candidates c-1\n", "Versions.DowngradeFirst true\n",
		"Alarms NOSPACE of 000000000000000a, c-0\n", "Doubt.Suspect 000000000000000a, c-0\n", "Doubt.Split true\n", "Quarantined c-9\n", "Diverged c-10\n", "Relocated c-12\n", "OnTrial 3.6.17 c-13\n", "Held noSpace (R)\n",
	} {
		if got := squeezed(out.String()); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(out.String(), "nothing of") {
		t.Errorf("not told:\n%s", out.String())
	}
	out = &page{width: width}
	if out.assessment(plan.Observed{}, plan.Assessment{}); strings.Count(out.String(), "nothing of") != 1 || strings.Contains(out.String(), "<nil>") {
		t.Errorf("of nothing it tells\n%s", out.String())
	}
}

// squeezed has one space where there are many.
func squeezed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}
