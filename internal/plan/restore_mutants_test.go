package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// restoreMutants are mistakes in restores.
var restoreMutants = map[string]mutant{
	"the data that a restore replaces goes first": {
		next: deleteReplacedByRestore, want: "S7", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1)}, running: true, lockstep: true},
	},
	"a restore is repeated": {
		next: restoreAgain, want: "S3",
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1)}, running: true, lockstep: true},
	},
	"a restored cluster starts beside the old one": {
		next: forgetOld, want: "S7",
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1)}, running: true, lockstep: true},
	},
	"the number of an attempt that was canceled is used again": {
		next: sameNumber, want: "S3",
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1), off(1), snapshot(2)}, running: true, lockstep: true},
	},
	"a restore is canceled after the cluster ID was recorded": {
		next: callOffLate, want: "S7", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, running: true, lockstep: true},
	},
	"a restore is canceled although the former members are gone": {
		next: callOffBlindly, want: "S7: a restore is canceled, and the members are gone",
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, running: true, lockstep: true},
	},
	"a pod on a silent node is taken for one that runs": {
		next: believeSilent, want: "S7: a restore is canceled, and the members are gone",
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, only: world.NodeFaults, running: true, lockstep: true, faults: 1,
		},
	},
	"a voter that was added last is forgotten": {
		next: forgetLastVoter, want: "S7: a restore is canceled, and the members are gone",
		scenario: scenario{
			sizes: []int{1, 2}, edits: []edit{snapshot(1), off(1)}, only: world.PodFaults, running: true, lockstep: true, faults: 1,
		},
	},
	"a restore that fails is tried for ever": {
		next: callOffNothing, want: "L", persistent: true,
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1)}, kinds: world.RestoreFaults, running: true, lockstep: true, faults: 1,
		},
	},
	"what was replaced goes as if nobody could need it": {
		next: dropReplaced, want: "S7: volume c-0 is deleted, which holds acknowledged data", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1)}, running: true, lockstep: true},
	},
	"what nobody has told of yet goes": {
		next: dropReplaced, want: "S7: volume c-0 is deleted, which holds acknowledged data", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1)}, retained: true, lockstep: true},
	},
	"what an earlier restore has replaced goes with Skip": {
		next: letAllGo, want: "S7: volume c-0 is deleted, which holds acknowledged data", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1), skip(2)}, running: true, lockstep: true},
	},
	"what was written to an attempt goes": {
		next: deleteAttempts, want: "S7: volume c-1 is deleted, which is kept", persistent: true,
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, only: world.PodFaults, running: true, lockstep: true, faults: 1,
		},
	},
	"what is on an emptyDir goes unsaved": {
		next: believeSnapshot, want: "S7: what c-0 has on an emptyDir is replaced",
		scenario: scenario{sizes: []int{1}, edits: []edit{unsaved()}, running: true, lockstep: true},
	},
	"a safety snapshot without a quorum is one of all that there is": {
		next: believeSnapshot, want: "S7: what c-",
		scenario: scenario{sizes: []int{3}, edits: []edit{snapshot(1)}, only: world.NodeFaults, running: true, lockstep: true, faults: 2},
	},
}

// deleteReplacedByRestore takes every restore for one with Skip, and nothing for kept.
func dropReplaced(o plan.Observed) plan.Action {
	o.Cluster.SafetySkipped, o.Cluster.KeptUIDs = true, nil
	return plan.Next(o)
}

// believeSnapshot takes one that was not taken, or without a quorum, for good.
func believeSnapshot(o plan.Observed) plan.Action {
	s := &o.Cluster.Safety
	s.UnsavedReason, s.Stale, s.Revision = "", false, max(s.Revision, 1)
	return plan.Next(o)
}

// letAllGo takes whatever is of another cluster for what the present restore has replaced.
func letAllGo(o plan.Observed) plan.Action {
	o.Volumes, o.Cluster.KeptUIDs = slices.Clone(o.Volumes), nil
	for i := range o.Volumes {
		if v := &o.Volumes[i]; v.ClusterID != o.Cluster.ExpectedID() {
			v.ClusterID = o.Cluster.ReplacedID
		}
	}
	return plan.Next(o)
}

// deleteAttempts takes it that nobody could have written to what a restore has started before it was given up.
func deleteAttempts(o plan.Observed) plan.Action {
	o.Volumes, o.Cluster.KeptUIDs = slices.Clone(o.Volumes), nil
	for i := range o.Volumes {
		if v := &o.Volumes[i]; !o.Cluster.Current(v.Incarnation) && v.Incarnation >= o.Cluster.Incarnations.FirstRestore {
			v.MemberID = 0
		}
	}
	return plan.Next(o)
}

func deleteReplacedByRestore(o plan.Observed) plan.Action {
	for _, v := range o.Volumes {
		if !o.Cluster.Current(v.Incarnation) && !v.Deleting {
			return plan.DeleteVolume{Name: v.Name, UID: v.UID}
		}
	}
	return plan.Next(o)
}

func restoreAgain(o plan.Observed) plan.Action {
	if b := o.Cluster.Bootstrap; b != nil && b.Restore != "" && o.Cluster.ID != 0 {
		o.Cluster.Restore, o.Cluster.Safety.Skipped = b.Restore, true
	}
	return plan.Next(o)
}

// sameNumber counts from what there is, not from what there ever was.
func sameNumber(o plan.Observed) plan.Action {
	o.Cluster.Incarnations.Last = 0
	return plan.Next(o)
}

// callOffLate does so although clients may have reached the new cluster.
func callOffLate(o plan.Observed) plan.Action {
	if b := o.Cluster.Bootstrap; b != nil && b.Restore != "" && o.Cluster.CancelReason != nil {
		return plan.CancelRestore{Why: *o.Cluster.CancelReason}
	}
	return plan.Next(o)
}

// callOffBlindly does so as long as nobody can have reached the new cluster, whatever has become of the old one.
func callOffBlindly(o plan.Observed) plan.Action {
	if c := o.Cluster; c.ID == 0 && c.Previous != nil && c.CancelReason != nil {
		return plan.CancelRestore{Why: *c.CancelReason}
	}
	return plan.Next(o)
}

func believeSilent(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Ready = true
	}
	return plan.Next(o)
}

// forgetLastVoter puts aside what status told before the last change of the voters.
func forgetLastVoter(o plan.Observed) plan.Action {
	if f := o.Cluster.Previous; f != nil && len(f.Voters) > 1 {
		o.Cluster.Previous = &plan.Record{ID: f.ID, Bootstrap: f.Bootstrap, Voters: f.Voters[:1]}
	}
	return plan.Next(o)
}

// callOffNothing goes on with a restore that is no longer wanted.
func callOffNothing(o plan.Observed) plan.Action {
	o.Cluster.CancelReason = nil
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].RestoreFailure = nil
	}
	return plan.Next(o)
}

func forgetOld(o plan.Observed) plan.Action {
	o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p plan.Pod) bool { return !o.Cluster.Current(p.Incarnation) })
	return plan.Next(o)
}
