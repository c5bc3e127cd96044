package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// differing are clusters on Auto Pilot whose members' data is found to differ.
var differing = map[string]scenario{
	"data differs where three run": {
		sizes: []int{3}, only: slices.Concat(world.DifferingFaults, world.TimeFaults), compares: true, faults: 3, full: 4,
	},
	"data differs as members go": {
		sizes: []int{3}, only: slices.Concat(world.DifferingFaults[:1], world.PodFaults, world.VolumeFaults, world.Holds), compares: true, faults: 2, full: 2,
	},
	"data differs, and status is lost": {
		sizes: []int{3}, running: true, lockstep: true, only: slices.Concat(world.DifferingFaults[:1], world.StatusFaults), compares: true, faults: 2, full: 3,
	},
	"data differs, and status is lost from 3 to 4": {
		sizes: []int{3, 4}, running: true, lockstep: true, only: slices.Concat(world.DifferingFaults[:1], world.StatusFaults, world.Holds), compares: true,
		faults: 2, full: 3,
	},
	"data differs where marks are refused": {
		sizes: []int{3}, running: true, only: slices.Concat(world.DifferingFaults[:1], world.Refusals(world.PatchesVolumes)), compares: true, faults: 1, full: 2,
	},
	"data differs, from 3 to 1": {
		sizes: []int{3, 1}, only: world.DifferingFaults, compares: true, faults: 1, full: 2,
	},
	"data is disputed while it grows": {
		sizes: []int{1, 2}, only: world.DisputeFaults, faults: 3, full: 4,
	},
	"data is disputed, from 3 to 1": {
		sizes: []int{3, 1}, only: world.DisputeFaults, faults: 2, full: 3,
	},
	"data differs in a template roll": {
		sizes: []int{3}, edits: []edit{template(1)}, only: world.DifferingFaults, compares: true, faults: 1, full: 2,
	},
	"data differs, and the user judges it": {
		sizes: []int{3, 1}, only: slices.Concat(world.DifferingFaults, world.TrustFaults), compares: true, faults: 2, full: 3,
	},
	"data is disputed in a bad update": {
		sizes: []int{3}, edits: []edit{template(-1), template(0)}, only: slices.Concat(split, world.MountFaults[:1]), compares: true, faults: 2, full: 3,
	},
	"data is disputed, and a restore called off": {
		sizes: []int{3}, edits: []edit{snapshot(1), off(1)}, only: slices.Concat(split, world.AgeFaults), compares: true, faults: 2, full: 3,
	},
	"data is disputed in a bad release": {
		sizes: []int{3}, version: "3.6.15", edits: []edit{version(badPatch), version("3.6.15")}, only: slices.Concat(split, world.DisputeFaults[:1]), compares: true,
		faults: 2, full: 3,
	},
}

// split is data of which no majority agrees.
var split = world.DifferingFaults[1:2]

// differingMutants judge the data with one mistake each.
var differingMutants = map[string]mutant{
	"a member is removed without a majority that agrees": {
		next: believesOneComparison, want: "S2: c-", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, only: world.DifferingFaults, compares: true, faults: 2},
	},
	"a learner joins while the wrong member leads": {
		next: learnsFromAnyone, want: "S2: c-", persistent: true,
		scenario: scenario{sizes: []int{3, 4}, running: true, lockstep: true, only: world.DifferingFaults, compares: true, faults: 2},
	},
	"a learner joins while a suspected member leads": {
		next: suspectsNobody, want: "S2: c-3 is to learn",
		scenario: scenario{sizes: []int{3, 4}, running: true, lockstep: true, only: world.DifferingFaults[:1], compares: true, faults: 1},
	},
	"a learner votes while data is disputed": {
		next: hearsNoAlarm, want: "S2: c-1 is to vote", scenario: scenario{sizes: []int{1, 2}, running: true, lockstep: true, only: world.DisputeFaults, faults: 1},
	},
	"a member goes that may have the right data": {
		next: hearsNoAlarm, want: "S2: c-2 is removed (Scaling)",
		scenario: scenario{sizes: []int{3, 1}, running: true, lockstep: true, only: world.DisputeFaults, faults: 1},
	},
	"a voter goes while another one is suspected": {
		next: comparesNothing, want: "S2: c-", scenario: scenario{sizes: []int{3, 1}, running: true, lockstep: true, only: world.DifferingFaults[:1], compares: true, faults: 1},
	},
	"a new process forgets what was found": {
		next: remembersNothing, want: "S2: c-", scenario: scenario{
			sizes: []int{3, 1}, running: true, lockstep: true, only: slices.Concat(world.DifferingFaults[1:2], world.Holds), compares: true, faults: 2,
		},
	},
	"a new process forgets what was put aside": {
		next: remembersNothing, want: "S2: c-0 is to vote", scenario: scenario{
			sizes: []int{3}, edits: []edit{snapshot(1), off(1)}, running: true, lockstep: true, only: slices.Concat(split, world.AgeFaults), compares: true, faults: 2,
		},
	},
	"a voter goes while all of them differ": {
		next: comparesNothing, want: "S2: c-2 is removed (Scaling), and its data",
		scenario: scenario{sizes: []int{3, 1}, running: true, lockstep: true, only: world.DifferingFaults[1:2], compares: true, faults: 1},
	},
	"the user is taken to judge the data": {
		next: trusts(true), want: "S2: c-2 is removed (Scaling), and its data",
		scenario: scenario{sizes: []int{3, 1}, running: true, lockstep: true, only: split, compares: true, faults: 1},
	},
	"the user who judges the data is not heard": {
		next: trusts(false), want: "L1",
		scenario: scenario{sizes: []int{3, 1}, running: true, lockstep: true, only: slices.Concat(split, world.TrustFaults), compares: true, faults: 2},
	},
	"a voter is updated while all of them differ": {
		next: comparesNothing, want: "S2: c-1 is restarted", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{template(1)}, running: true, lockstep: true, only: split, compares: true, faults: 1},
	},
	"the volume of one that has gone is deleted while data is disputed": {
		next: tidiesAllTheSame, want: "S2: volume c-2", persistent: true,
		scenario: scenario{sizes: []int{3, 1}, running: true, only: world.DisputeFaults[:1], faults: 1},
	},
	"a member is quarantined without its volume": {
		next: keepsNoVolume, want: "S2: c-", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, only: world.DifferingFaults[:1], compares: true, faults: 1},
	},
	"the mark of a quarantined member is not read": {
		next: readsNoMark, want: "S2: volume", persistent: true, scenario: scenario{
			sizes: []int{3}, running: true, lockstep: true, only: slices.Concat(world.DifferingFaults[:1], world.StatusFaults), compares: true, faults: 2,
		},
	},
	"the mark of a member is not read": {
		next: readsNoMark, want: "S2: c-", persistent: true, scenario: scenario{
			sizes: []int{3, 4}, running: true, lockstep: true, only: slices.Concat(world.DifferingFaults[:1], world.StatusFaults, world.Holds), compares: true,
			faults: 3,
		},
	},
	"the volume of a quarantined member is deleted": {
		next: forgetsEvidence, want: "S2: volume", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, only: world.DifferingFaults, compares: true, faults: 2},
	},
}

// hearsNoAlarm takes what etcd says of data that differs for nothing.
func hearsNoAlarm(o plan.Observed) plan.Action {
	o.Etcd.Answers = slices.Clone(o.Etcd.Answers)
	for i := range o.Etcd.Answers {
		o.Etcd.Answers[i].Alarms = nil
	}
	return plan.Next(o)
}

// comparesNothing forgets what comparisons have shown, unless somebody is quarantined for that.
func comparesNothing(o plan.Observed) plan.Action {
	if o.Cluster.Quarantined.Member == 0 {
		o.Etcd.Compared, o.Cluster.Doubt = nil, plan.Doubt{}
	}
	return plan.Next(o)
}

// trusts takes the user to judge the data, or not to, whatever he says.
func trusts(judges bool) world.Planner {
	return func(o plan.Observed) plan.Action {
		o.Cluster.Autopilot.Trusted = judges
		return plan.Next(o)
	}
}

// remembersNothing goes by comparisons of its own process alone.
func remembersNothing(o plan.Observed) plan.Action {
	o.Cluster.Doubt = plan.Doubt{}
	return plan.Next(o)
}

// tidiesAllTheSame hears of no alarm if that would keep a volume.
func tidiesAllTheSame(o plan.Observed) plan.Action {
	if a, deletes := hearsNoAlarm(o).(plan.DeleteVolume); deletes {
		return a
	}
	return plan.Next(o)
}

// learnsFromAnyone does not know whose data is wrong while one is quarantined and it has new members join.
func learnsFromAnyone(o plan.Observed) plan.Action {
	if o.Cluster.Quarantined.Member == 0 {
		return plan.Next(o)
	}
	return suspectsNobody(o)
}

// suspectsNobody does not know who is suspected while it has new members join.
func suspectsNobody(o plan.Observed) plan.Action {
	blind := o
	blind.Cluster.Quarantined, blind.Cluster.Doubt, blind.Etcd.Compared = plan.Quarantined{}, plan.Doubt{}, nil
	if a, joins := plan.Next(blind).(plan.AddLearner); joins {
		return a
	}
	return plan.Next(o)
}

// believesOneComparison takes whoever differs from the first one for wrong.
func believesOneComparison(o plan.Observed) plan.Action {
	if n := len(o.Etcd.Compared); n > 0 && o.Cluster.Quarantined.Member == 0 {
		hashes := o.Etcd.Compared[n-1].Hashes
		for _, m := range o.Etcd.Members {
			if slices.ContainsFunc(hashes, func(h plan.MemberHash) bool { return h.Member == m.ID && h.Hash != hashes[0].Hash }) {
				return plan.Quarantine{Quarantined: plan.Quarantined{Member: m.ID, Name: m.Name}}
			}
		}
	}
	return plan.Next(o)
}

// keepsNoVolume does not say which volume is to be kept.
func keepsNoVolume(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if q, ok := a.(plan.Quarantine); ok {
		q.VolumeUID = ""
		return q
	}
	return a
}

// unmarkedVolumes are the volumes as if none were marked.
func unmarkedVolumes(volumes []plan.Volume) []plan.Volume {
	volumes = slices.Clone(volumes)
	for i := range volumes {
		volumes[i].Quarantined = false
	}
	return volumes
}

// readsNoMark goes by status alone, if that is lost, too.
func readsNoMark(o plan.Observed) plan.Action {
	if o.Cluster.Quarantined.Member == 0 {
		o.Volumes = unmarkedVolumes(o.Volumes)
	}
	return plan.Next(o)
}

// forgetsEvidence takes the volume of a member that was quarantined for any other that is left over.
func forgetsEvidence(o plan.Observed) plan.Action {
	if listed := slices.ContainsFunc(o.Etcd.Members, func(m plan.Member) bool { return m.ID == o.Cluster.Quarantined.Member }); !listed {
		o.Cluster.Quarantined, o.Cluster.KeptUIDs, o.Volumes = plan.Quarantined{}, nil, unmarkedVolumes(o.Volumes)
	}
	return plan.Next(o)
}
