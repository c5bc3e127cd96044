package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// judges are ways to believe a server, with one mistake each. The exploration must find out every one of them.
var judges = map[string]struct {
	judge      func(plan.Electorate, []plan.Response) plan.Etcd
	scenario   scenario
	persistent bool
	want       string // how the violation begins
}{
	"the leader of the latest term speaks for all": {
		judge: latestTerm, persistent: true, want: "S1: plan.DeletePod took the quorum away",
		scenario: scenario{sizes: []int{3}, running: true, only: world.ForgedFaults, lockstep: true, faults: 2},
	},
	"a majority of those who answer speaks for all": {
		judge: whoeverAnswers, persistent: true, want: "S2: volume c-0 of a listed member is deleted",
		scenario: scenario{sizes: []int{1}, running: true, only: world.ForgedFaults, lockstep: true, faults: 2},
	},
	"the highest revision that anybody tells is noted": {
		judge: highestRevision, want: "L1: the operator is blocked (RevisionRegressed)",
		scenario: scenario{sizes: []int{3}, running: true, only: world.ForgedFaults, lockstep: true, faults: 2},
	},
	"the half of two that is left is not believed": {
		judge: forgetNext, want: "L2: the operator waits (QuorumLost)",
		scenario: scenario{sizes: []int{2, 1}, running: true, lockstep: true, faults: 1},
	},
}

func TestJudgeMutants(t *testing.T) {
	for title, m := range judges {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := m.scenario.with(m.persistent, false, plan.Next)
			s.Judge = m.judge
			s.Limit, s.SafetyOnly = 200_000, strings.HasPrefix(m.want, "S")
			r := world.Explore(s)
			if r.Violation == nil || !strings.HasPrefix(r.Violation.Why, m.want) {
				t.Errorf("the mutant was not found: %v\n%v", r, r.Violation)
			}
		})
	}
}

// latestTerm believes whoever knows of the latest term.
func latestTerm(e plan.Electorate, words []plan.Response) plan.Etcd {
	latest := slices.MaxFunc(append(words, plan.Response{}), func(a, b plan.Response) int { return int(a.Term) - int(b.Term) })
	if latest.Read != nil {
		e.Voters, e.Next = []string{latest.Pod}, nil
	}
	return e.Judge(words)
}

func whoeverAnswers(e plan.Electorate, words []plan.Response) plan.Etcd {
	e.Voters, e.Next = nil, nil
	words = slices.Clone(words)
	for i, w := range words {
		if words[i].Alarms = nil; !w.Learner { // whoever lies of its data, too, has nothing deleted
			e.Voters = append(e.Voters, w.Pod)
		}
	}
	return e.Judge(words)
}

func highestRevision(e plan.Electorate, words []plan.Response) plan.Etcd {
	seen := e.Judge(words)
	for _, w := range words {
		if w.Read != nil && slices.Contains(seen.Confirmed, w.Pod) {
			seen.Revision = max(seen.Revision, w.Read.Revision)
		}
	}
	return seen
}

// forgetNext goes by the voters alone that were there before.
func forgetNext(e plan.Electorate, words []plan.Response) plan.Etcd {
	e.Next = nil
	return e.Judge(words)
}

func restless(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, idle := a.(plan.Idle); idle {
		return plan.SetBudget{MinAvailable: o.Cluster.Size}
	}
	return a
}
