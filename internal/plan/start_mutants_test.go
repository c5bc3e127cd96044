package plan_test

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// startMutants are mistakes about what keeps the operator from acting, and about what disturbs no member.
var startMutants = map[string]mutant{
	"the operator acts while it is paused": {
		next: restlessInPause, want: "P:", scenario: scenario{sizes: []int{3}, edits: []edit{paused}, running: true, lockstep: true},
	},
	"a cluster that is being deleted is healed": {
		next: healDeleted, want: "P:",
		scenario: scenario{sizes: []int{3}, edits: []edit{deleted}, running: true, lockstep: true, faults: 1},
	},
	"a cluster starts from a spec that cannot work": {
		next: takeAnySpec, want: "P:", scenario: scenario{sizes: []int{1}, first: invalid, lockstep: true},
	},
	"a cluster starts from nothing that is to start from a snapshot": {
		next: awaitNothing, want: "S3", scenario: scenario{sizes: []int{1}, first: fromSnapshot, lockstep: true},
	},
	"a cluster starts from nothing where another operator ran it": {
		next: forgetRun, want: "S3", scenario: scenario{sizes: []int{1}, ran: true, lockstep: true},
	},
	"a cluster starts beside members of another operator": {
		next: overlookLegacy, want: "S3", scenario: scenario{sizes: []int{1}, first: legacy, lockstep: true},
	},
	"status that was put back is acted on": {
		next: believeAnyStatus, want: "S", persistent: true,
		scenario: scenario{sizes: []int{3, 1}, running: true, only: world.SetBackFaults, lockstep: true, faults: 1},
	},
	"data that is too old is acted on": {
		next: believeOldData, want: "S6",
		scenario: scenario{sizes: []int{3}, only: append(world.DataFaults, world.PodFaults...), running: true, lockstep: true, faults: 2},
	},
	"etcd 3.7 meets the log of etcd 3.5": {
		next: forgetSnapshots, want: "L", persistent: true,
		scenario: scenario{
			sizes: []int{3}, version: "3.5.35", edits: []edit{version("3.6.16"), version("3.7.3")}, running: true, lockstep: true,
		},
	},
	"resources are left as they are": {
		next: neverResize, want: "L1", scenario: scenario{sizes: []int{3}, edits: []edit{resources(1)}, running: true, lockstep: true},
	},
	"a volume that cannot grow is asked to for ever": {
		next: askAgain, want: "L1", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{storage(1)}, rigid: true, running: true, lockstep: true},
	},
}

func restlessInPause(o plan.Observed) plan.Action {
	o.Cluster.Paused = false
	return plan.Next(o)
}

// believeAnyStatus takes for new what the record cannot have permitted to start.
func believeAnyStatus(o plan.Observed) plan.Action {
	if b, ok := plan.Next(o).(plan.Blocked); !ok || b.Reason != v1beta2.ReasonStatusOutdated {
		return plan.Next(o)
	}
	o.Pods, o.Volumes = slices.Clone(o.Pods), slices.Clone(o.Volumes)
	for i := range o.Pods {
		o.Pods[i].Permit = nil
	}
	for i := range o.Volumes {
		o.Volumes[i].MemberID = 0
	}
	return plan.Next(o)
}

func healDeleted(o plan.Observed) plan.Action {
	o.Cluster.Deleting = false
	return plan.Next(o)
}

func takeAnySpec(o plan.Observed) plan.Action {
	o.Cluster.Invalid = nil
	return plan.Next(o)
}

func awaitNothing(o plan.Observed) plan.Action {
	o.Cluster.WaitsForRestore = ""
	return plan.Next(o)
}

func forgetRun(o plan.Observed) plan.Action {
	o.Cluster.RanBefore = false
	return plan.Next(o)
}

func overlookLegacy(o plan.Observed) plan.Action {
	o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p plan.Pod) bool { return p.Legacy })
	return plan.Next(o)
}

func believeOldData(o plan.Observed) plan.Action {
	o.Cluster.Revision = 0
	return plan.Next(o)
}

func forgetSnapshots(o plan.Observed) plan.Action {
	o.Cluster.SnapshotDue = false
	return plan.Next(o)
}

func neverResize(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Drift.Resources = false
	}
	return plan.Next(o)
}

func askAgain(o plan.Observed) plan.Action {
	o.Volumes = slices.Clone(o.Volumes)
	for i := range o.Volumes {
		o.Volumes[i].NotExpandable = false
	}
	return plan.Next(o)
}
