package plan_test

import (
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// refusalMutants are mistakes about what the API server refuses.
var refusalMutants = map[string]mutant{
	"a refused write is tried for ever": {
		next: forgetRefusals, want: "L1: the operator tries in vain", persistent: true, scenario: refusedPods,
	},
	"one refused write holds up all others": {
		next: waitForAll, want: "L3: what does not depend on the refused write is held up: clients", scenario: refusedBudget,
	},
	"the operator is idle although a write is refused": {
		next: idleAllTheSame, want: "L3: the operator is idle", persistent: true, scenario: refusedPods,
	},
	"nobody is told what is refused": {
		next: tellNobody, want: "L3: nobody is told that the API server refuses to create Pod c-", persistent: true, scenario: refusedPods,
	},
	"the budget is raised and lowered in turn": {
		next: flap, want: "L1: the operator never comes to rest",
		scenario: scenario{
			sizes: []int{3}, version: "3.6.15", edits: []edit{version("3.6.16")}, only: world.Refusals(world.ChangesImages),
			running: true, lockstep: true, forGood: true, faults: 1,
		},
	},
	"a member is removed although the budget is refused": {
		next: removeOpenly, want: "S1",
		scenario: scenario{
			sizes: []int{3, 2}, only: append(world.Refusals(world.AppliesBudget), world.Evictions...),
			running: true, lockstep: true, forGood: true, faults: 2,
		},
	},
	"a member is given up because its pod is refused": {
		next: giveUpRefused, want: "S2: c-", persistent: true, scenario: refusedPods,
	},
	"a cluster starts from nothing because its EtcdRestore is refused": {
		next: startWithout, want: "S3: a first start from nothing in the place of data",
		scenario: scenario{
			sizes: []int{1}, first: fromSnapshot, only: world.Refusals(world.CreatesRestores), lockstep: true, forGood: true, faults: 1,
		},
	},
	"a cluster starts from nothing because an adoption is refused": {
		next: adoptNothing, want: "S3: a first start from nothing beside data", persistent: true,
		scenario: scenario{
			sizes: []int{1}, retained: true, only: world.Refusals(world.PatchesVolumes), lockstep: true, forGood: true, faults: 1,
		},
	},
	"a restore goes on beside a member that cannot be taken from clients": {
		next: passPrevious, want: "S7: clients reach",
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1)}, only: world.Refusals(world.PatchesPods),
			running: true, lockstep: true, forGood: true, faults: 1,
		},
	},
}

// refusedPods is a loss that cannot be made up for, and refusedBudget a start in which nobody can be protected from evictions.
var (
	refusedPods = scenario{
		sizes: []int{3}, only: append(world.Refusals(world.CreatesPods), world.Kills...),
		running: true, lockstep: true, forGood: true, faults: 2,
	}
	refusedBudget = scenario{sizes: []int{3}, only: world.Refusals(world.AppliesBudget), lockstep: true, forGood: true, faults: 1}
)

// TestPermitsFollowMarks shows what it is for that a refused effect ends its chain.
func TestPermitsFollowMarks(t *testing.T) {
	s := scenario{
		sizes: []int{1, 3}, only: append(world.Refusals(world.PatchesVolumes), world.Kills...), running: true, lockstep: true, faults: 2,
	}.with(true, false, plan.Next)
	s.PassMarks, s.SafetyOnly, s.Limit = true, true, 200_000
	if r := world.Explore(s); r.Violation == nil || !strings.HasPrefix(r.Violation.Why, "S") {
		t.Errorf("an operator that permits what it could not mark was not found out: %v\n%v", r, r.Violation)
	}
}

// refuses reports whether a write with that verb and kind was refused.
func refuses(o plan.Observed, verb, kind string) bool {
	return slices.ContainsFunc(o.Refused, func(r plan.Refusal) bool { return r.Verb == verb && r.Kind == kind })
}

func forgetRefusals(o plan.Observed) plan.Action {
	o.Refused = nil
	return plan.Next(o)
}

func waitForAll(o plan.Observed) plan.Action {
	if len(o.Refused) == 0 {
		return plan.Next(o)
	}
	var all []string
	for _, r := range o.Refused {
		all = append(all, r.String())
	}
	return plan.Wait{Reason: v1beta2.ReasonWriteRefused, Message: strings.Join(all, "; ")}
}

func idleAllTheSame(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, waits := a.(plan.Wait); waits && len(o.Refused) > 0 {
		return plan.Idle{Reason: v1beta2.ReasonSpecReached}
	}
	return a
}

func tellNobody(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, waits := a.(plan.Wait); waits && len(o.Refused) > 0 {
		return plan.Wait{Reason: v1beta2.ReasonWriteRefused}
	}
	return a
}

func flap(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, waits := a.(plan.Wait); !waits || len(o.Refused) == 0 {
		return a
	}
	if n := len(o.Etcd.Members); o.Budget.MinAvailable != n {
		return plan.SetBudget{MinAvailable: n}
	}
	return plan.SetBudget{MinAvailable: plan.MinAvailable(len(o.Etcd.Members))}
}

// removeOpenly does without the budget where it is refused.
func removeOpenly(o plan.Observed) plan.Action {
	if refuses(o, "apply", "PodDisruptionBudget") {
		o.Budget = plan.Budget{Exists: true, MinAvailable: len(o.Etcd.Members), Settled: true}
	}
	return plan.Next(o)
}

func giveUpRefused(o plan.Observed) plan.Action {
	for _, r := range o.Refused {
		if m, ok := listedVoter(o, r.Name); ok && r.Verb == "create" {
			return plan.RemoveMember{ID: m.ID, Name: m.Name, Why: v1beta2.ReasonPodLost}
		}
	}
	return plan.Next(o)
}

func startWithout(o plan.Observed) plan.Action {
	if refuses(o, "create", "EtcdRestore") {
		o.Cluster.WaitsForRestore, o.Cluster.CreateRestore, o.Refused = "", false, nil
	}
	return plan.Next(o)
}

func adoptNothing(o plan.Observed) plan.Action {
	if refuses(o, "adopt", plan.KindVolume) {
		o.Volumes, o.Refused = nil, nil
	}
	return plan.Next(o)
}

func passPrevious(o plan.Observed) plan.Action {
	if refuses(o, "remove from the client Service", plan.KindPod) {
		return forgetOld(o)
	}
	return plan.Next(o)
}
