package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// relocating are clusters whose members may be moved to other nodes because of their disks.
var relocating = map[string]scenario{
	"a slow disk where three run": {
		sizes: []int{3}, only: slices.Concat(world.RelocationFaults, world.TimeFaults), relocates: true, faults: 2, full: 3,
	},
	"a slow disk as members go": {
		sizes: []int{3}, only: slices.Concat(world.RelocationFaults, world.Losses, world.Holds), relocates: true, faults: 2, full: 3,
	},
	"a slow disk, and no other node": {
		sizes: []int{3}, only: slices.Concat(world.RelocationFaults, world.Losses), relocates: true, spareless: true, faults: 2, full: 3,
	},
	"a slow disk, from 3 to 1": {
		sizes: []int{3, 1}, only: world.RelocationFaults, relocates: true, faults: 1, full: 2,
	},
	"a slow disk in a template roll": {
		sizes: []int{3}, edits: []edit{template(1)}, only: world.RelocationFaults, relocates: true, faults: 1, full: 2,
	},
}

// moved is a small world for mutants.
var moved = scenario{sizes: []int{3}, running: true, lockstep: true, only: world.RelocationFaults, relocates: true, faults: 3}

// relocatingMutants move members carelessly.
var relocatingMutants = map[string]mutant{
	"two members are moved at once": {next: movesTwo, want: "R: c-0 is moved, and another one was", scenario: moved},
	"a member is moved without margin": {
		next: movesAtOnce, want: "R: c-0 is moved without margin",
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, only: slices.Concat(world.RelocationFaults, world.Kills), relocates: true, faults: 2},
	},
	"one of two members is moved": {
		next: movesAtOnce, want: "R: c-0 is moved without margin",
		scenario: scenario{sizes: []int{2}, running: true, lockstep: true, only: world.RelocationFaults, relocates: true, faults: 1},
	},
	"a member is moved while all disks are slow": {next: movesAnyway, want: "R: c-1 is moved although all", scenario: moved},
	"a relocation is never given up": {
		next: movesForever, want: "L",
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, only: world.RelocationFaults, relocates: true, spareless: true, faults: 1},
	},
	"the former member goes although another one is down": {
		next: movesOn, want: "R: c-0 is moved away from, while",
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, only: slices.Concat(world.RelocationFaults, world.Kills), relocates: true, faults: 2},
	},
	"the new member may be where the former one was": {next: movesAnywhere, want: "R: the pod of c-3 may be", scenario: moved},
}

// movesTwo does not know that one is moved.
func movesTwo(o plan.Observed) plan.Action {
	blind := o
	blind.Cluster.Relocation = plan.Relocation{}
	blind.Etcd.Histories = slices.DeleteFunc(slices.Clone(o.Etcd.Histories), func(h plan.DiskHistory) bool { return h.Pod == o.Cluster.Relocation.Name })
	if a, moves := plan.Next(blind).(plan.CommitRelocation); moves {
		return a
	}
	return plan.Next(o)
}

// movesAtOnce asks nobody whether it is safe.
func movesAtOnce(o plan.Observed) plan.Action {
	for _, h := range o.Etcd.Histories {
		if h.Alone == 0 || o.Cluster.Relocation.Name != "" {
			continue
		}
		for _, m := range o.Etcd.Members {
			if m.Name == h.Pod {
				return plan.CommitRelocation{Relocation: plan.Relocation{Member: m.ID, Name: m.Name, Node: "n-" + m.Name, Since: o.Now}}
			}
		}
	}
	return plan.Next(o)
}

// movesOn takes all voters for healthy as the former member goes.
func movesOn(o plan.Observed) plan.Action {
	former := o.Cluster.Relocation
	learns := func(m plan.Member) bool { return m.Learner }
	if former.Member == 0 || len(o.Etcd.Members) <= o.Cluster.Size || slices.ContainsFunc(o.Etcd.Members, learns) {
		return plan.Next(o)
	}
	return plan.RemoveMember{ID: former.Member, Name: former.Name, Why: "moved"}
}

// movesAnyway compares a slow disk with none.
func movesAnyway(o plan.Observed) plan.Action {
	o.Etcd.Histories = slices.Clone(o.Etcd.Histories)
	all := !slices.ContainsFunc(o.Etcd.Histories, func(h plan.DiskHistory) bool { return h.Slow == 0 })
	for i := range o.Etcd.Histories {
		o.Etcd.Histories[i].Alone = 0
		if all {
			o.Etcd.Histories[i].Alone = o.Etcd.Histories[i].Slow
		}
	}
	return plan.Next(o)
}

// movesForever takes every relocation for one that has just begun.
func movesForever(o plan.Observed) plan.Action {
	if o.Cluster.Relocation.Member != 0 {
		o.Cluster.Relocation.Since = o.Now
	}
	return plan.Next(o)
}

// movesAnywhere has new pods be on any node.
func movesAnywhere(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if create, ok := a.(plan.CreatePods); ok {
		pods := slices.Clone(create.Pods)
		for i := range pods {
			pods[i].Avoid = plan.Avoidance{}
		}
		return plan.CreatePods{Pods: pods}
	}
	return a
}
