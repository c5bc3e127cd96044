package plan_test

import "maps"

// stalled are further updates of a running cluster, in which one trouble must not hold up what has nothing to do with it, or
// what would end it.
var stalled = map[string]scenario{
	"bad version, grows, then back": {
		sizes: []int{3}, version: "3.6.15", edits: []edit{version(badPatch), size(5), version("3.6.15")}, full: 1,
	},
}

// allUpdates are all scenarios in which a running cluster is changed.
func allUpdates() map[string]scenario {
	all := maps.Clone(updates)
	maps.Copy(all, stalled)
	return all
}
