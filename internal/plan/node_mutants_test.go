package plan_test

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// nodeMutants are mistakes about pods that are deleted, and about where pods can run.
var nodeMutants = map[string]mutant{
	"a member whose etcd ends in its grace period is taken for lost": {
		next: buryEarly, want: "S2", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{template(1)}, running: true, lockstep: true},
	},
	"a pod that has ended and lingers is waited for": {
		next: waitForEnded, want: "L2", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, silent: true, only: world.LingerFaults, lockstep: true, faults: 2},
	},
}

func buryEarly(o plan.Observed) plan.Action {
	for _, p := range o.Pods {
		m, ok := listedVoter(o, p.Name)
		if ok && p.Deleting && !slices.ContainsFunc(o.Etcd.Answers, func(a plan.Answer) bool { return a.Pod == p.Name }) {
			return plan.RemoveMember{ID: m.ID, Name: m.Name}
		}
	}
	return plan.Next(o)
}

func waitForEnded(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		if p := &o.Pods[i]; p.Phase == plan.Finished {
			p.Deadline = o.Now.Add(time.Minute)
		}
	}
	return plan.Next(o)
}
