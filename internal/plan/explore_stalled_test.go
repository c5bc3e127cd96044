package plan_test

import (
	"maps"

	"github.com/etcdpilot/etcd-operator/internal/world"
)

// stalled are further updates of a running cluster, in which one trouble must not hold up what has nothing to do with it, or
// what would end it.
var stalled = map[string]scenario{
	"bad version, grows, then back": {
		sizes: []int{3}, version: "3.6.15", edits: []edit{version(badPatch), size(5), version("3.6.15")}, full: 1,
	},
	"volumes never get bigger, then another version": {
		sizes: []int{3}, version: "3.6.15", edits: []edit{storage(1), version("3.6.16")}, stunted: true, full: 1,
	},
	"class that nobody provides, then another": {
		sizes: []int{3}, edits: []edit{class(-1), class(1)}, full: 1,
	},
	"one starves, then more is asked for": {
		sizes: []int{1}, edits: []edit{resources(1)}, only: world.HungerFaults, faults: 1, full: 2,
	},
	"three starve, then more is asked for": {
		sizes: []int{3}, edits: []edit{resources(1)}, only: world.HungerFaults, faults: 1, full: 2,
	},
	"volumes are full, then larger": {
		sizes: []int{3}, edits: []edit{storage(1)}, only: world.HungerFaults, faults: 1, full: 2,
	},
	"a volume never mounts where three run": {
		sizes: []int{3}, only: world.MountFaults, faults: 2, full: 3,
	},
	"a volume never mounts, from 1 to 3": {
		sizes: []int{1, 3}, only: world.MountFaults, faults: 2, full: 3,
	},
	"sidecars end, then another template": {
		sizes: []int{3}, edits: []edit{template(1)}, only: world.SidecarFaults, faults: 2, full: 3,
	},
	"a sidecar never starts, then back": {
		sizes: []int{3}, edits: []edit{template(world.BadSidecar), template(0)}, only: world.CutOffs, faults: 1, full: 2,
	},
	"a dead node stays": {
		sizes: []int{3}, version: "3.6.15", edits: []edit{version("3.6.16")}, only: world.SilentFaults, silent: true, faults: 1, full: 2,
	},
}

// stalledStarts are first starts of that kind.
var stalledStarts = map[string]scenario{
	"another class in a first start": {
		sizes: []int{3}, first: class(-1), edits: []edit{class(1)}, lockstep: true, faults: 1, full: 2,
	},
	"another class in a start from a snapshot": {
		sizes: []int{1}, first: func(s *world.Spec) { fromSnapshot(s); class(-1)(s) }, edits: []edit{class(1)}, lockstep: true, faults: 1, full: 2,
	},
	"one starves in a start from a snapshot": {
		sizes: []int{1}, first: fromSnapshot, edits: []edit{resources(1)}, only: world.HungerFaults, lockstep: true, faults: 1, full: 2,
	},
	"a volume is full in a start from a snapshot": {
		sizes: []int{1}, first: fromSnapshot, edits: []edit{storage(1)}, only: world.HungerFaults, lockstep: true, faults: 1, full: 2,
	},
}

// allScenarios are those of all maps, by their titles.
func allScenarios() map[string]scenario {
	all := maps.Clone(scenarios)
	maps.Copy(all, stalledStarts)
	for _, running := range []map[string]scenario{updates, stalled, switches, differing, growing, following, sleeping, relocating, resizing, autopilots} {
		for title, s := range running {
			s.running, s.lockstep = true, true
			all["update: "+title] = s
		}
	}
	maps.Copy(all, allRecoveries())
	maps.Copy(all, allRefused())
	maps.Copy(all, allLingering())
	maps.Copy(all, allPlaced())
	return all
}
