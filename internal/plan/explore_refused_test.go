package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/world"
)

// badLabels are those that the API server lets no pod have.
const badLabels = -1

// refused are the scenarios in which the API server refuses writes. Each is explored twice: it refuses them for good, or no longer
// once nothing else happens.
var refused = map[string]scenario{
	"pods refused where three run": {
		sizes: []int{3}, running: true, faults: 2, full: 3,
		only: slices.Concat(world.Refusals(world.CreatesPods), world.Losses),
	},
	"budget refused, from 1 to 3": {
		sizes: []int{1, 3}, running: true, faults: 2, full: 2,
		only: slices.Concat(world.Refusals(world.AppliesBudget), world.Losses),
	},
	"budget refused in a first start of 3": {
		sizes: []int{3}, faults: 2, full: 2, only: slices.Concat(world.Refusals(world.AppliesBudget), world.Losses),
	},
	"images refused": {
		sizes: []int{3}, running: true, version: "3.6.15", edits: []edit{version("3.6.16")}, faults: 2, full: 2,
		only: slices.Concat(world.Refusals(world.ChangesImages, world.PullsImages), world.Losses),
	},
	"template refused": {
		sizes: []int{3}, running: true, edits: []edit{template(1)}, faults: 2, full: 2,
		only: slices.Concat(world.Refusals(world.CreatesPods, world.DeletesPods, world.PatchesVolumes), world.Losses),
	},
	"resize and labels refused": {
		sizes: []int{3}, running: true, edits: []edit{labels(1), resources(1)}, faults: 1, full: 2,
		only: world.Refusals(world.ResizesPods, world.ChangesMetadata),
	},
	"expansion refused": {
		sizes: []int{3}, running: true, edits: []edit{storage(1), template(1)}, faults: 1, full: 2,
		only: world.Refusals(world.ExpandsVolumes),
	},
	"labels denied, then back": {
		sizes: []int{3}, running: true, edits: []edit{labels(badLabels), labels(0)}, only: world.Losses, faults: 1, full: 2,
	},
	"denied version, then back": {
		sizes: []int{3}, running: true, version: "3.6.15", edits: []edit{version(deniedPatch), version("3.6.15")},
		only: world.Losses, denied: []string{deniedPatch}, faults: 2, full: 2,
	},
	"volumes refused, from 1 to 3": {
		sizes: []int{1, 3}, running: true, only: slices.Concat(world.Refusals(world.CreatesVolumes, world.PatchesVolumes), world.Losses),
		faults: 2, full: 2,
	},
	"pods refused, from 1 to 3": {
		sizes: []int{1, 3}, running: true, only: slices.Concat(world.Refusals(world.CreatesPods, world.PatchesPods), world.Losses),
		faults: 2, full: 2,
	},
	"deletes refused, from 3 to 1": {
		sizes: []int{3, 1}, running: true, only: slices.Concat(world.Refusals(world.DeletesPods, world.DeletesVolumes), world.Losses),
		faults: 2, full: 2,
	},
	"restore refused": {
		sizes: []int{1}, running: true, edits: []edit{snapshot(1)}, faults: 1, full: 2,
		only: world.Refusals(world.CreatesPods, world.DeletesPods, world.CreatesVolumes, world.PatchesPods),
	},
	"restore to start from refused": {
		sizes: []int{1}, first: fromSnapshot, faults: 1, full: 2,
		only: world.Refusals(world.CreatesRestores, world.CreatesPods, world.CreatesVolumes),
	},
	"adoption refused": {
		sizes: []int{3}, retained: true, faults: 2, full: 2, only: slices.Concat(world.Refusals(world.PatchesVolumes), world.Losses),
	},
	"first start refused": {
		sizes: []int{3}, faults: 1, full: 2,
		only: world.Refusals(world.CreatesPods, world.CreatesVolumes, world.PatchesPods, world.PatchesVolumes),
	},
}

// deniedPatch is a version that the API server lets no pod have.
const deniedPatch = "3.6.98"

// allRefused are those scenarios, all in lockstep.
func allRefused() map[string]scenario {
	all := map[string]scenario{}
	for title, s := range refused {
		s.lockstep = true
		all["for a while: "+title] = s
		s.forGood = true
		all["for good: "+title] = s
	}
	return all
}
