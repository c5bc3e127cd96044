package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// leastAmount and mostAmount are the bounds of what the world's members request, which is 1000m by their spec.
const leastAmount, mostAmount = 800, 1300

// resizing are clusters whose members are given more and less CPU.
var resizing = map[string]scenario{
	"load rises and falls where three run": {
		sizes: []int{3}, running: true, resizes: true, only: slices.Concat(world.UsageFaults, world.Kills, world.Holds), lockstep: true, faults: 3, full: 4,
	},
	"load rises, and pods cannot be resized": {
		sizes: []int{3}, running: true, resizes: true, only: slices.Concat(world.UsageFaults, world.UnfitFaults), lockstep: true, faults: 4, full: 5,
	},
	"load rises as members are lost, and there is no node for more": {
		sizes: []int{3}, running: true, resizes: true, tight: true, only: slices.Concat(world.UsageFaults, world.Losses), lockstep: true, faults: 2, full: 3,
	},
	"load rises where one runs": {
		sizes: []int{1}, running: true, resizes: true, only: slices.Concat(world.UsageFaults, world.UnfitFaults, stops), lockstep: true, faults: 3, full: 4,
	},
	"load rises, from 3 to 1": {
		sizes: []int{3, 1}, running: true, resizes: true, only: world.UsageFaults, lockstep: true, faults: 2, full: 3,
	},
	"load rises in a template roll": {
		sizes: []int{3}, edits: []edit{template(1)}, running: true, resizes: true, only: slices.Concat(world.UsageFaults, world.UnfitFaults), lockstep: true,
		faults: 2, full: 3,
	},
	"load rises, and the resources are edited": {
		sizes: []int{3}, edits: []edit{resources(1), resources(-1)}, running: true, resizes: true, only: world.UsageFaults, lockstep: true, faults: 2, full: 3,
	},
	"load rises before a restore, and there is no node for more": {
		sizes: []int{1}, edits: []edit{snapshot(1)}, running: true, resizes: true, tight: true, only: world.UsageFaults, lockstep: true, faults: 1, full: 2,
	},
	"memory is used up where three run": {
		sizes: []int{3}, running: true, resizes: true, memory: true, only: slices.Concat(world.MemoryFaults, world.UnfitFaults), lockstep: true,
		faults: 4, full: 5,
	},
	"memory is used up as members are lost, and there is no node for more": {
		sizes: []int{3}, running: true, resizes: true, memory: true, tight: true, only: slices.Concat(world.MemoryFaults, world.Losses), lockstep: true,
		faults: 2, full: 3,
	},
	"memory is used up, and status is lost": {
		sizes: []int{3}, running: true, resizes: true, memory: true, only: slices.Concat(world.MemoryFaults, world.UnfitFaults, world.StatusFaults),
		lockstep: true, faults: 3, full: 4,
	},
	"memory is used up in a template roll": {
		sizes: []int{3}, edits: []edit{template(1)}, running: true, resizes: true, memory: true, only: slices.Concat(world.MemoryFaults, world.UnfitFaults),
		lockstep: true, faults: 2, full: 3,
	},
	"memory is used up, and the resources are edited": {
		sizes: []int{3}, edits: []edit{resources(1), resources(-1)}, running: true, resizes: true, memory: true,
		only: slices.Concat(world.MemoryFaults, world.UnfitFaults), lockstep: true, faults: 2, full: 3,
	},
	"memory is used up where one runs": {
		sizes: []int{1}, running: true, resizes: true, memory: true, only: slices.Concat(world.MemoryFaults, world.UnfitFaults, world.PodFaults), lockstep: true,
		faults: 4, full: 5,
	},
	"load rises, and resizes are refused": {
		sizes: []int{3}, running: true, resizes: true, forGood: true, only: slices.Concat(world.UsageFaults, world.Refusals(world.ResizesPods)), lockstep: true,
		faults: 2, full: 3,
	},
}

// resized is a small world for mutants.
var resized = scenario{
	sizes: []int{3}, running: true, lockstep: true, only: slices.Concat(world.UsageFaults, world.UnfitFaults), resizes: true, faults: 2,
}

// filled is one in which memory is used up.
var filled = scenario{
	sizes: []int{3}, running: true, lockstep: true, only: slices.Concat(world.MemoryFaults, world.UnfitFaults), resizes: true, memory: true, faults: 4,
}

// resizingMutants resize members carelessly.
var resizingMutants = map[string]mutant{
	"members are given more than is allowed": {next: resizesOn, want: "R: members are to request", scenario: resized},
	"members are given less after an hour":   {next: lowersAtOnce, want: "R: members are to request less, and may", scenario: resized},
	"members are given less again within a day": {
		next: lowersDaily, want: "R: members are to request less again", scenario: resized,
	},
	"members are resized before all have the last amount":  {next: resizesAhead, want: "R: members are to request something else", scenario: resized},
	"a member is made anew because it cannot be resized":   {next: remakes, want: "R: c-", persistent: true, scenario: resized},
	"members go back to less memory than one of them uses": {next: goesBack, want: "R: members are to go back to 1000 of memory", scenario: filled},
	"members that do not tell what they use are taken to use nothing": {
		next: takesSilenceForNothing, want: "R: members are to go back to 1000 of memory", scenario: filled,
	},
	"a member is given less memory whatever it uses by then": {next: forgetsGrowth, want: "R: c-0 is given 1000 of memory, and uses", scenario: filled},
	"all members are given less memory at once":              {next: lowersAll, want: "R: c-2 is given less memory while c-1 is", scenario: filled},
	"what cannot be resized is waited for":                   {next: resizesForever, want: "L", scenario: resized},
	"a pod that no node takes is waited for": {
		next: waitsForRoom, want: "L", persistent: true, scenario: scenario{
			sizes: []int{3}, running: true, lockstep: true, tight: true, only: slices.Concat(world.UsageFaults, world.Kills), resizes: true, faults: 2,
		},
	},
}

// resizesOn knows no bounds.
func resizesOn(o plan.Observed) plan.Action {
	o.Cluster.Autopilot.MaxResources.CPU *= 2
	return plan.Next(o)
}

// lowersAtOnce takes what was used in the last hour for what was used in a week.
func lowersAtOnce(o plan.Observed) plan.Action {
	o.Etcd.Usages = slices.Clone(o.Etcd.Usages)
	for i := range o.Etcd.Usages {
		if u := &o.Etcd.Usages[i]; u.Used.CPU < o.Cluster.Requests().CPU*6/10 {
			u.Peak = plan.Resources{CPU: u.Used.CPU / 2, Memory: 1}
		}
	}
	return plan.Next(o)
}

// lowersDaily forgets when it was done last.
func lowersDaily(o plan.Observed) plan.Action {
	if r := &o.Cluster.Tuned.Resized; r.Now.CPU > 0 && r.GivenUp == "" {
		r.Since = o.Now.Add(-48 * 3600e9)
	}
	return plan.Next(o)
}

// resizesAhead takes what members are to have for what they have.
func resizesAhead(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Resizing, o.Pods[i].Untuned, o.Pods[i].Drift.Resources = "", false, false
	}
	return plan.Next(o)
}

// remakes does with members whose pods cannot be resized what is done for an edit of the spec.
func remakes(o plan.Observed) plan.Action {
	for _, p := range o.Pods {
		if p.ResizeInfeasible {
			return plan.Recreate{Name: p.Name, UID: p.UID, Version: p.Version}
		}
	}
	return plan.Next(o)
}

// goesBack has members request what they did before, whatever they use by now.
func goesBack(o plan.Observed) plan.Action {
	act := plan.Next(o)
	if tuning, is := act.(plan.CommitTuning); is && tuning.Because != "" && o.Cluster.Tuned.Resized.GivenUp == "" {
		tuning.Resized.Now, tuning.Resized.Before = o.Cluster.Tuned.Resized.Before, o.Cluster.Tuned.Resized.Before
		return tuning
	}
	return act
}

// takesSilenceForNothing adds that they use little.
func takesSilenceForNothing(o plan.Observed) plan.Action {
	if len(o.Etcd.Usages) == 0 {
		for _, p := range o.Pods {
			o.Etcd.Usages = append(o.Etcd.Usages, plan.Usage{Pod: p.Name, PodUID: p.UID, Used: plan.Resources{Memory: 1}, Heap: 1})
		}
	}
	return plan.Next(o)
}

// forgetsGrowth takes what members use for what they used once a resize was given up.
func forgetsGrowth(o plan.Observed) plan.Action {
	if o.Cluster.Tuned.Resized.GivenUp != "" {
		o.Etcd.Usages = slices.Clone(o.Etcd.Usages)
		for i := range o.Etcd.Usages {
			o.Etcd.Usages[i].Used.Memory, o.Etcd.Usages[i].Peak.Memory = 1, 1
		}
	}
	return plan.Next(o)
}

// lowersAll takes less memory for more.
func lowersAll(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Drift.LessMemory = false
	}
	return plan.Next(o)
}

// resizesForever takes every resize for one that has just begun.
func resizesForever(o plan.Observed) plan.Action {
	if o.Cluster.Tuned.Resized.Now != o.Cluster.Tuned.Resized.Before {
		o.Cluster.Tuned.Resized.Since = o.Now
	}
	return plan.Next(o)
}

// waitsForRoom does not see what pods request.
func waitsForRoom(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Requests = plan.Resources{}
	}
	return plan.Next(o)
}
