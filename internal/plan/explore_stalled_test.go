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
	"one starves, then more is asked for": {
		sizes: []int{1}, edits: []edit{resources(1)}, only: world.HungerFaults, faults: 1, full: 2,
	},
	"three starve, then more is asked for": {
		sizes: []int{3}, edits: []edit{resources(1)}, only: world.HungerFaults, faults: 1, full: 2,
	},
	"volumes are full, then larger": {
		sizes: []int{3}, edits: []edit{storage(1)}, only: world.HungerFaults, faults: 1, full: 2,
	},
	"a dead node stays": {
		sizes: []int{3}, version: "3.6.15", edits: []edit{version("3.6.16")}, only: world.SilentFaults, silent: true, faults: 1, full: 2,
	},
}

// allUpdates are all scenarios in which a running cluster is changed.
func allUpdates() map[string]scenario {
	all := maps.Clone(updates)
	maps.Copy(all, stalled)
	return all
}
