package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// maxQuota is reached from the world's quota, 1000Mi, in two steps.
const maxQuota = 2000 << 20

// small volumes have room for the world's quota, and those of maxVolume for the next one, and not for the last one.
const smallVolume, maxVolume = 3 << 30, 4 << 30

// growing are clusters whose keys fill more and more of their quotas.
var growing = map[string]scenario{
	"keys fill the quota where three run": {
		sizes: []int{3}, running: true, grows: true, only: slices.Concat(world.KeyFaults, world.PodFaults, stops), lockstep: true, faults: 2, full: 3,
	},
	"keys fill the quota, from 3 to 1": {
		sizes: []int{3, 1}, running: true, grows: true, only: world.KeyFaults, lockstep: true, faults: 3, full: 3,
	},
	"keys fill the quota in a template roll": {
		sizes: []int{3}, edits: []edit{template(1)}, grows: true, only: world.KeyFaults, faults: 3, full: 3,
	},
	"keys fill the quota, and volumes have no room": {
		sizes: []int{3}, first: storage(smallVolume), running: true, grows: true, only: slices.Concat(world.KeyFaults, world.PodFaults, stops), lockstep: true,
		faults: 2, full: 3,
	},
	"keys fill the quota, and volumes cannot be expanded": {
		sizes: []int{3}, first: storage(smallVolume), running: true, grows: true, rigid: true, only: world.KeyFaults, lockstep: true, faults: 3, full: 3,
	},
	"keys fill the quota, and volumes are made larger by hand": {
		sizes: []int{3}, first: storage(smallVolume), edits: []edit{storage(6 << 30)}, running: true, grows: true, only: world.KeyFaults, lockstep: true,
		faults: 2, full: 3,
	},
	"keys fill the quota, and there is no space": {
		sizes: []int{3}, running: true, grows: true, pilot: true, only: slices.Concat(world.KeyFaults, world.SpaceFaults), lockstep: true, faults: 2, full: 3,
	},
	"keys fill the quota as the operator starts": {
		sizes: []int{3}, running: true, grows: true, pilot: true, only: slices.Concat(world.KeyFaults, world.SpaceFaults, world.AgeFaults), lockstep: true,
		faults: 3, full: 4,
	},
}

// historyAgeUnknown are clusters whose databases are full when the operator starts.
var historyAgeUnknown = scenario{
	sizes: []int{3}, running: true, grows: true, pilot: true, only: slices.Concat(world.SpaceFaults[:1], world.AgeFaults), lockstep: true, faults: 2,
}

// growingMutants raise quotas carelessly.
var growingMutants = map[string]mutant{
	"history is given up that may be young":           {next: dates(1), want: "R: history is given up whose age", scenario: historyAgeUnknown},
	"the quota is raised for history that may be old": {next: dates(-1), want: "R: the quota is raised for history", scenario: historyAgeUnknown},
	"the quota is raised above what is allowed": {
		next: growsOn, want: "R: the quota is", scenario: scenario{
			sizes: []int{3}, running: true, grows: true, only: world.KeyFaults, lockstep: true, faults: 3,
		},
	},
	"volumes are made larger than is allowed": {
		next: enlargesOn, want: "R: volumes have", persistent: true, scenario: scenario{
			sizes: []int{3}, first: storage(smallVolume), running: true, grows: true, only: world.KeyFaults, lockstep: true, faults: 3,
		},
	},
	"the quota is raised before volumes have the room": {
		next: growsAhead, want: "R: the quota becomes", persistent: true, scenario: scenario{
			sizes: []int{3}, first: storage(smallVolume), running: true, grows: true, only: world.KeyFaults, lockstep: true, faults: 3,
		},
	},
	"the quota is raised while members restart for the last one": {
		next: growsAtOnce, want: "R: the quota is raised again", scenario: scenario{
			sizes: []int{3}, running: true, grows: true, only: world.KeyFaults, lockstep: true, faults: 3,
		},
	},
}

// dates takes all history for older than a new process can know, or all that was not compacted for younger.
func dates(past int64) world.Planner {
	return func(o plan.Observed) plan.Action {
		if o.Etcd.PastRevision == 0 {
			o.Etcd.PastRevision = past
		}
		return plan.Next(o)
	}
}

// growsOn knows no maximum.
func growsOn(o plan.Observed) plan.Action {
	o.Cluster.Autopilot.MaxQuota *= 2
	return plan.Next(o)
}

// enlargesOn knows no largest volume.
func enlargesOn(o plan.Observed) plan.Action {
	o.Cluster.Autopilot.MaxVolume *= 2
	return plan.Next(o)
}

// growsAhead takes what volumes are to have for what they have.
func growsAhead(o plan.Observed) plan.Action {
	o.Volumes = slices.Clone(o.Volumes)
	for i := range o.Volumes {
		o.Volumes[i].Requested, o.Volumes[i].Expanding = o.Cluster.VolumeSize, false
	}
	return plan.Next(o)
}

// growsAtOnce goes by the quota that a member has, and waits for nobody to get the one that was committed to.
func growsAtOnce(o plan.Observed) plan.Action {
	for _, a := range o.Etcd.Answers {
		next := min(o.Cluster.Quota+o.Cluster.Quota/2, o.Cluster.Autopilot.MaxQuota)
		if a.DBSizeInUse > a.Quota/10*8 && next > o.Cluster.Quota {
			return plan.CommitTuning{Tuned: plan.Tuned{Quota: next, InsteadOf: o.Cluster.SpecQuota}}
		}
	}
	return plan.Next(o)
}
