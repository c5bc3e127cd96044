package plan

import (
	"slices"
	"testing"
)

// TestExplain tells of the rule that has answered and of the guard that has put its own answer in its place, in the order of the
// lists.
func TestExplain(t *testing.T) {
	shrinks := edit(unserved(healthyCluster(3, true), 2), func(o *Observed) { o.Cluster.Size = 1 })
	e := Explain(shrinks)
	if e.State != "running" || e.Group != "membership" || e.Rule != "scaleDown" || e.Guard != "blockEvictions" {
		t.Errorf("state %s, rule %s/%s, guard %s", e.State, e.Group, e.Rule, e.Guard)
	}
	if _, ok := e.RuleAction.(RemoveMember); !ok {
		t.Errorf("the rule's answer is %#v", e.RuleAction)
	}
	if want := (SetBudget{MinAvailable: 3}); e.Action != want || Next(shrinks) != want {
		t.Errorf("the action is %#v, and Next's %#v", e.Action, Next(shrinks))
	}
	if !slices.Equal(e.Guards, []string{
		"protectKeptVolumes", "protectForeignVolumes", "requireConfirmedMembers", "awaitDefragmentation", "requireQuorum", "blockEvictions",
		"learnFromTheRight", "raiseBudgetFirst", "commitVotersFirst",
	}) {
		t.Errorf("guards %q", e.Guards)
	}

	if e := Explain(healthyCluster(3, true)); e.Rule != "" || e.Guards != nil || e.Action != Next(healthyCluster(3, true)) {
		t.Errorf("where nothing is to do: %+v", e)
	}
}

// TestNamesInAState wants no rule to stand twice in a state: its name would not say where.
func TestNamesInAState(t *testing.T) {
	for _, s := range states {
		var names []string
		for _, g := range s.groups {
			for _, r := range g.rules {
				if name := nameOf(r); slices.Contains(names, name) {
					t.Errorf("%s stands twice in %s", name, s.name)
				} else {
					names = append(names, name)
				}
			}
		}
	}
}
