package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/world"
)

// What the API server lets no pod have: labels, and a version.
const (
	badLabels   = -1
	deniedPatch = "3.6.98"
)

// refused are the scenarios in which the API server refuses writes, all in lockstep. Each is explored twice: it refuses them for good,
// which can only cost what depends on them (L3), or for a while, at any time, and then with one fault fewer.
var refused = map[string]scenario{
	"pods refused where three run": {
		sizes: []int{3}, running: true, faults: 2, full: 3,
		only: slices.Concat(world.Refusals(world.CreatesPods), world.Losses),
	},
	"permits refused where three run": {
		sizes: []int{3}, running: true, faults: 2, full: 3,
		only: slices.Concat(world.Refusals(world.PatchesPods, world.PatchesVolumes), world.Kills),
	},
	"budget refused, from 1 to 3": {
		sizes: []int{1, 3}, running: true, faults: 2, full: 2,
		only: slices.Concat(world.Refusals(world.AppliesBudget), world.Holds),
	},
	"budget refused in a first start of 3": {
		sizes: []int{3}, faults: 1, full: 2, only: slices.Concat(world.Refusals(world.AppliesBudget), world.Losses),
	},
	"images refused": {
		sizes: []int{3}, running: true, version: "3.6.15", edits: []edit{version("3.6.16")}, faults: 2, full: 2,
		only: slices.Concat(world.Refusals(world.ChangesImages, world.PullsImages), world.Holds),
	},
	"template refused": {
		sizes: []int{3}, running: true, edits: []edit{template(1)}, faults: 2, full: 2,
		only: slices.Concat(world.Refusals(world.CreatesPods, world.DeletesPods, world.PatchesVolumes, world.AppliesBudget), world.Holds),
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
		sizes: []int{3}, running: true, edits: []edit{labels(badLabels), labels(0)}, only: world.Kills, faults: 2, full: 2,
	},
	"denied version, then back": {
		sizes: []int{3}, running: true, version: "3.6.15", edits: []edit{version(deniedPatch), version("3.6.15")},
		denied: []string{deniedPatch}, faults: 2, full: 2, only: slices.Concat(world.Kills, world.Holds),
	},
	"volumes refused, from 1 to 3": {
		sizes: []int{1, 3}, running: true, faults: 1, full: 2,
		only: slices.Concat(world.Refusals(world.CreatesVolumes, world.PatchesVolumes), world.Losses),
	},
	"pods refused, from 1 to 3": {
		sizes: []int{1, 3}, running: true, faults: 1, full: 2,
		only: slices.Concat(world.Refusals(world.CreatesPods, world.PatchesPods), world.Kills),
	},
	"deletes refused, from 3 to 1": {
		sizes: []int{3, 1}, running: true, faults: 2, full: 2,
		only: slices.Concat(world.Refusals(world.DeletesPods, world.DeletesVolumes, world.AppliesBudget), world.Kills),
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
		sizes: []int{3}, retained: true, faults: 2, full: 2, only: slices.Concat(world.Refusals(world.PatchesVolumes), world.Holds),
	},
	"first start refused": {
		sizes: []int{3}, faults: 1, full: 2,
		only: world.Refusals(world.CreatesPods, world.CreatesVolumes, world.PatchesPods, world.PatchesVolumes),
	},
}

// allRefused are those scenarios.
func allRefused() map[string]scenario {
	all := map[string]scenario{}
	for title, s := range refused {
		s.lockstep, s.forGood = true, true
		all["refused: "+title] = s
		s.forGood, s.faults = false, max(1, s.faults-1)
		all["refused for a while: "+title] = s
	}
	return all
}
