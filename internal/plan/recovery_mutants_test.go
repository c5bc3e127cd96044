package plan_test

import (
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// recoveryMutants are mistakes in recoveries from a lost quorum.
var recoveryMutants = map[string]mutant{
	"silence is taken for a loss": {
		next: recoverOnSilence, want: "S8: a recovery from a lost quorum, which nobody has confirmed", persistent: true,
		scenario: scenario{
			sizes: []int{3}, only: world.LossesAndSplits, running: true, lockstep: true, faults: 1,
		},
	},
	"a recovery begins although the majority is back": {
		next: recoverReturned, want: "S8: what a survivor holds replaces the data, although the quorum is back", persistent: true,
		scenario: scenario{sizes: []int{3}, only: world.SplitFaults, running: true, lockstep: true, faults: 2},
	},
	"a recovery carries out another plan": {
		next: recoverOtherwise, want: "S8: what a survivor holds replaces the data by another plan", persistent: true,
		scenario: scenario{sizes: []int{3}, only: world.SplitLosses, running: true, lockstep: true, faults: 4},
	},
	"a recovery does not wait for pods on silent nodes": {
		next: startBeside, want: "S8: c-3 is let start while", persistent: true,
		scenario: scenario{sizes: []int{3}, only: world.SilentLosses, running: true, lockstep: true, abrupt: true, faults: 3},
	},
}

// recoverOnSilence confirms every plan by itself.
func recoverOnSilence(o plan.Observed) plan.Action {
	if r := plan.Assess(o).Recovery; r != nil {
		o.Cluster.Recovery.Confirmed = r.Hash
	}
	return plan.Next(o)
}

// recoverReturned begins although a quorum answers.
func recoverReturned(o plan.Observed) plan.Action {
	if o.Cluster.RestorePlan == "" || o.Etcd.Contact != plan.ContactQuorum {
		return plan.Next(o)
	}
	o.Cluster.RestorePlan, o.Cluster.Safety = "", plan.Safety{Skipped: true}
	a := plan.Next(o)
	if begin, ok := a.(plan.CommitBootstrap); ok {
		begin.Bootstrap.Recovery = true
		return begin
	}
	return a
}

// recoverOtherwise takes whatever plan there is now for the one that was confirmed.
func recoverOtherwise(o plan.Observed) plan.Action {
	if r := plan.Assess(o).Recovery; r != nil && o.Cluster.RestorePlan != "" {
		o.Cluster.RestorePlan = r.Hash
	}
	return plan.Next(o)
}

// startBeside takes a recovery for a restore, which has nobody to fear.
func startBeside(o plan.Observed) plan.Action {
	if b := o.Cluster.Bootstrap; b != nil && b.Recovery {
		other := *b
		other.Recovery = false
		o.Cluster.Bootstrap = &other
	}
	return plan.Next(o)
}
