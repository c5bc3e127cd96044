package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// restoreMutants are mistakes in restores.
var restoreMutants = map[string]mutant{
	"the data that a restore replaces goes first": {
		next: deleteReplaced, want: "S7", persistent: true,
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
	"the number of an attempt that was called off is used again": {
		next: sameNumber, want: "S3",
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1), off(1), snapshot(2)}, running: true, lockstep: true},
	},
	"a restore is called off after the latch": {
		next: callOffLate, want: "S7", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, running: true, lockstep: true},
	},
	"a restore is called off although the former members are gone": {
		next: callOffBlindly, want: "S7: a restore is called off, and the members are gone",
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, running: true, lockstep: true},
	},
	"a pod on a silent node is taken for one that runs": {
		next: believeSilent, want: "S7: a restore is called off, and the members are gone",
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1), off(1)}, only: world.NodeFaults, running: true, lockstep: true, faults: 1,
		},
	},
	"a voter that was added last is forgotten": {
		next: forgetLastVoter, want: "S7: a restore is called off, and the members are gone",
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
	"data that could not be saved is not noted": {
		next: noteNothing, want: "S7: volume c-0 is not kept", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{unsaved()}, running: true, lockstep: true},
	},
	"data that could not be saved goes": {
		next: dropUnsaved, want: "S7", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{unsaved()}, running: true, lockstep: true},
	},
	"what was written after the safety snapshot goes": {
		next: believeSaved, want: "S7: volume c-0 is deleted, which holds what no safety snapshot does", persistent: true,
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1)}, only: world.WriteFaults, running: true, lockstep: true, faults: 1,
		},
	},
	"what was written to members that stop late goes": {
		next: believeStopped, want: "S7: volume c-0 is deleted, which holds what no safety snapshot does", persistent: true,
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1)}, only: world.WriteFaults, running: true, lockstep: true, faults: 2,
		},
	},
	"what was written to an attempt goes": {
		next: keepNoAttempt, want: "S2: volume c-1 is deleted, which holds acknowledged data", persistent: true,
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
	"what nobody has told of yet goes": {
		next: believeSaved, want: "S7: volume c-0 is deleted, which holds what no safety snapshot does", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{snapshot(1)}, retained: true, lockstep: true},
	},
}

// believeSaved takes a safety snapshot for one of all that there is.
func believeSaved(o plan.Observed) plan.Action {
	o.Cluster.Safety.Skip = true
	return plan.Next(o)
}

// believeSnapshot takes one that was not taken, or without a quorum, for good.
func believeSnapshot(o plan.Observed) plan.Action {
	s := &o.Cluster.Safety
	s.Unsaved, s.Stale, s.Revision = "", false, max(s.Revision, 1)
	return plan.Next(o)
}

// keepNoAttempt calls a restore off as if nobody could have written to what it has started.
func keepNoAttempt(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if off, ok := a.(plan.CallOff); ok {
		off.Kept = nil
		return off
	}
	return a
}

// believeStopped takes what was told to stop for stopped.
func believeStopped(o plan.Observed) plan.Action {
	o.Cluster.Stopped = o.Cluster.Since
	return plan.Next(o)
}

func deleteReplaced(o plan.Observed) plan.Action {
	for _, v := range o.Volumes {
		if !o.Cluster.Current(v.Incarnation) && !v.Deleting {
			return plan.DeleteVolume{Name: v.Name, UID: v.UID}
		}
	}
	return plan.Next(o)
}

func restoreAgain(o plan.Observed) plan.Action {
	if b := o.Cluster.Bootstrap; b != nil && b.Restore != "" && o.Cluster.ID != 0 {
		o.Cluster.Restore, o.Cluster.Safety.Skip = b.Restore, true
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
	if b := o.Cluster.Bootstrap; b != nil && b.Restore != "" && o.Cluster.CallOff != nil {
		return plan.CallOff{Why: *o.Cluster.CallOff}
	}
	return plan.Next(o)
}

// callOffBlindly does so as long as nobody can have reached the new cluster, whatever has become of the old one.
func callOffBlindly(o plan.Observed) plan.Action {
	if c := o.Cluster; c.ID == 0 && c.Former != nil && c.CallOff != nil {
		return plan.CallOff{Why: *c.CallOff}
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
	if f := o.Cluster.Former; f != nil && len(f.Voters) > 1 {
		o.Cluster.Former = &plan.Record{ID: f.ID, Bootstrap: f.Bootstrap, Voters: f.Voters[:1]}
	}
	return plan.Next(o)
}

// callOffNothing goes on with a restore that nobody wants any more.
func callOffNothing(o plan.Observed) plan.Action {
	o.Cluster.CallOff = nil
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Failure = nil
	}
	return plan.Next(o)
}

// noteNothing leaves nobody who knows that the volumes are the only place.
func noteNothing(o plan.Observed) plan.Action {
	o.Cluster.Unsaved = false
	return plan.Next(o)
}

func dropUnsaved(o plan.Observed) plan.Action {
	o.Cluster.Kept = nil
	return plan.Next(o)
}

func forgetOld(o plan.Observed) plan.Action {
	o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p plan.Pod) bool { return !o.Cluster.Current(p.Incarnation) })
	return plan.Next(o)
}
