package plan_test

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// piloted is a cluster of three in which everything may happen to databases.
var piloted = scenario{sizes: []int{3}, running: true, pilot: true, only: world.DatabaseFaults, lockstep: true, faults: 2}

// upkeepMutants are planners that take a risk with databases.
var upkeepMutants = map[string]mutant{
	"a member is defragmented while one is":       {next: twoAtOnce, want: "R: c-1 is defragmented while c-1 is", scenario: piloted},
	"a member is defragmented while it is copied": {next: blindToSnapshots, want: "R: c-0 is defragmented while a snapshot of it is read", scenario: piloted},
	"the alarm is disarmed above the quota":       {next: disarmAtOnce, want: "R: the alarm is disarmed while the file", scenario: piloted},
	"the alarm is disarmed right below the quota": {next: disarmBelow, want: "R: the alarm is disarmed while the file", scenario: scenario{
		sizes: []int{3}, running: true, grows: true, pilot: true, only: slices.Concat(world.KeyFaults, world.SpaceFaults[:1]), lockstep: true, faults: 2,
	}},
	"the leader is defragmented": {next: leaderFirst, want: "R: c-0 is defragmented while it leads", scenario: piloted},
	"a member is defragmented whoever else is there": {next: unguarded, want: "S1", scenario: scenario{
		sizes: []int{3}, running: true, pilot: true, only: slices.Concat(world.PageFaults, world.PodFaults), lockstep: true, faults: 2,
	}},
}

// twoAtOnce does not know what is under way.
func twoAtOnce(o plan.Observed) plan.Action {
	o.Etcd.Databases = slices.Clone(o.Etcd.Databases)
	for i := range o.Etcd.Databases {
		o.Etcd.Databases[i].Defragmenting = time.Time{}
	}
	return plan.Next(o)
}

func blindToSnapshots(o plan.Observed) plan.Action {
	o.Etcd.Databases = slices.Clone(o.Etcd.Databases)
	for i := range o.Etcd.Databases {
		o.Etcd.Databases[i].Copied = false
	}
	return plan.Next(o)
}

func disarmAtOnce(o plan.Observed) plan.Action {
	for _, a := range o.Etcd.Answers {
		for _, alarm := range a.Alarms {
			return plan.Disarm{Alarm: alarm}
		}
	}
	return plan.Next(o)
}

// disarmBelow takes a file that is below its quota for one that has room.
func disarmBelow(o plan.Observed) plan.Action {
	o.Etcd.Answers = slices.Clone(o.Etcd.Answers)
	for i := range o.Etcd.Answers {
		if a := &o.Etcd.Answers[i]; a.DBSize < a.Quota {
			a.DBSize, a.DBSizeInUse = a.Quota/2, a.Quota/2
		}
	}
	return plan.Next(o)
}

// leaderFirst does not have it hand over.
func leaderFirst(o plan.Observed) plan.Action {
	move, ok := plan.Next(o).(plan.MoveLeader)
	if p, found := podOf(o, move.FromName); ok && found && len(o.Etcd.Databases) > 0 {
		return plan.Defragment{ID: move.From, Name: p.Name, UID: p.UID}
	}
	return plan.Next(o)
}

// unguarded asks nobody whether it is safe.
func unguarded(o plan.Observed) plan.Action {
	for _, d := range o.Etcd.Databases {
		if !d.Defragmenting.IsZero() {
			return plan.Next(o)
		}
	}
	for _, a := range o.Etcd.Answers {
		if a.DBSizeInUse < a.DBSize/2 && a.MemberID != a.Leader {
			return plan.Defragment{ID: a.MemberID, Name: a.Pod, UID: a.PodUID}
		}
	}
	return plan.Next(o)
}
