package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// autopilot is what Auto Pilot may do in that scenario.
func (s scenario) autopilot() (a plan.Autopilot) {
	if s.pilot {
		a.NoSpace, a.Compact, a.Defragment = plan.ModeOn, true, plan.ModeOn
	}
	if s.compares {
		a.Diverged = plan.ModeOn
	}
	if s.grows {
		a.Grow, a.MaxQuota = plan.ModeOn, maxQuota
		a.Enlarge, a.MaxVolume = plan.ModeOn, maxVolume
	}
	if s.tested != nil {
		a.Patches = plan.ModeOn
	}
	if s.resizes {
		a.Resources, a.MinResources.CPU, a.MaxResources.CPU = plan.ModeOn, leastAmount, mostAmount
	}
	if s.memory {
		a.MinResources, a.MaxResources = plan.Resources{}, plan.Resources{Memory: mostAmount << 20}
	}
	if s.relocates {
		a.Relocation = plan.ModeOn
	}
	return a
}

// everything has all of Auto Pilot act.
func everything(s scenario) scenario {
	s.pilot, s.compares, s.grows, s.relocates, s.resizes = true, true, true, true, true
	s.version, s.first, s.tested = "3.6.15", follows("3.6.15"), []string{"3.6.16"}
	return s
}

// autopilots are clusters in which all of Auto Pilot acts at the same time, and what it may do changes.
var autopilots = map[string]scenario{
	"every signal is raised where three run": everything(scenario{sizes: []int{3}, before: world.Signals, only: world.Kills, faults: 1, full: 2}),
	"every signal is raised where one runs":  everything(scenario{sizes: []int{1}, before: withoutOthers, only: world.Kills, faults: 1, full: 2}),
	"every signal is raised, and the spec is edited": everything(scenario{
		sizes: []int{3}, edits: []edit{template(1)}, before: world.Signals, only: world.Kills, faults: 0, full: 1,
	}),
	"every signal is raised, and the size changes": everything(scenario{sizes: []int{1, 2}, before: withoutOthers, only: world.Kills, faults: 0, full: 1}),
	"every signal is raised, and no room can be made": everything(scenario{
		sizes: []int{3}, edits: []edit{template(1)}, before: slices.Concat(world.Signals, world.SpaceFaults), only: world.Kills, faults: 0, full: 1,
	}),
	"signals come and go":                      everything(scenario{sizes: []int{3}, only: slices.Concat(world.Signals, world.SignalsEnd), faults: 2, full: 3}),
	"every signal is raised, and modes change": everything(scenario{sizes: []int{3}, before: world.Signals, only: world.AllowanceFaults, faults: 2, full: 3}),
	"a slow disk, and modes change": {
		sizes: []int{3}, relocates: true, only: slices.Concat(world.RelocationFaults, world.AllowanceFaults),
		faults: 3, full: 4,
	},
	"data differs, and modes change": {
		sizes: []int{3}, compares: true, only: slices.Concat(world.DifferingFaults, world.AllowanceFaults),
		faults: 3, full: 4,
	},
	"keys fill the quota, and modes change": {
		sizes: []int{3}, grows: true, pilot: true, only: slices.Concat(world.KeyFaults, world.SpaceFaults, world.AllowanceFaults),
		faults: 3, full: 4,
	},
	"databases are fragmented, modes change": {
		sizes: []int{3}, pilot: true, only: slices.Concat(world.DatabaseFaults, world.AllowanceFaults),
		faults: 2, full: 3,
	},
	"databases are fragmented, the window closes": {
		sizes: []int{3}, pilot: true, only: slices.Concat(world.PageFaults, world.WindowFaults), faults: 3, full: 4,
	},
	"every signal is raised, and it is switched off": everything(scenario{sizes: []int{3}, before: world.Signals, only: world.SwitchFaults, faults: 1, full: 2}),
	"members use more or less, modes change": {
		sizes: []int{3}, resizes: true, only: slices.Concat(world.UsageFaults, world.AllowanceFaults),
		faults: 2, full: 3,
	},
}

// withoutOthers are the signals of a cluster of one.
var withoutOthers = slices.DeleteFunc(slices.Clone(world.Signals), func(k world.Kind) bool { return k == world.DifferingFaults[0] })
