package plan_test

import "github.com/etcdpilot/etcd-operator/internal/world"

// recoveries are the scenarios in which a quorum is lost, and what one member holds becomes the cluster's data, in lockstep.
var recoveries = map[string]scenario{
	"quorum lost, and recovered once confirmed": {
		sizes: []int{3}, only: world.ConfirmedLosses, faults: 3, full: 4,
	},
	"quorum out of sight": {
		sizes: []int{3}, only: world.SplitFaults, faults: 3, full: 4,
	},
	"quorum lost with silent nodes": {
		sizes: []int{2}, only: world.SilentLosses, abrupt: true, faults: 2, full: 3,
	},
	"quorum of two lost": {
		sizes: []int{2}, only: world.ConfirmedLosses, faults: 2, full: 3,
	},
}

// allRecoveries are they by their titles.
func allRecoveries() map[string]scenario {
	all := map[string]scenario{}
	for title, s := range recoveries {
		s.running, s.lockstep = true, true
		all[title] = s
	}
	return all
}
