package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// What keeps Auto Pilot from acting.
var braked, shut, advised = world.AllowanceFaults[:1], world.AllowanceFaults[1:2], world.AllowanceFaults[2:]

// although is a mutant that does not ask whether it may do what is of that type.
func although[T plan.Action](s scenario, allowance []world.Kind, want string) mutant {
	s.sizes, s.running, s.lockstep = []int{3}, true, true
	s.only, s.faults = slices.Concat(s.only, allowance), 2
	return mutant{next: mayAlways[T](s), scenario: s, persistent: s.first != nil || s.compares, want: want}
}

// mayAlways does whatever is of that type and due, whether it is allowed or not.
func mayAlways[T plan.Action](s scenario) world.Planner {
	return func(o plan.Observed) plan.Action {
		free := o
		free.MayDisturb, free.Cluster.Autopilot = true, s.autopilot()
		if act, is := plan.Next(free).(T); is {
			return act
		}
		return plan.Next(o)
	}
}

var (
	fragmented = scenario{pilot: true, only: world.PageFaults}
	spaceless  = scenario{pilot: true, only: world.SpaceFaults[:1]}
	keysGrow   = scenario{grows: true, only: world.KeyFaults}
	keysCramp  = scenario{grows: true, only: world.KeyFaults, first: storage(smallVolume)}
	loaded     = scenario{resizes: true, only: world.UsageFaults}
	released   = scenario{version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: world.PatchFaults[:1]}
	slowed     = scenario{relocates: true, only: world.RelocationFaults}
	odd        = scenario{compares: true, only: world.DifferingFaults[:1]}
)

// autopilotMutants do not ask whether they may.
var autopilotMutants = map[string]mutant{
	"a member is defragmented outside the window":        although[plan.Defragment](fragmented, shut, "R: plan.Defragment of defragment although the window"),
	"a member is defragmented as the window closes":      although[plan.Defragment](fragmented, world.WindowFaults[:1], "R: plan.Defragment of defragment although the window closes"),
	"a member is defragmented beside many others":        although[plan.Defragment](fragmented, braked, "R: plan.Defragment of defragment although others"),
	"a member is defragmented where that is advised":     although[plan.Defragment](fragmented, advised, "R: plan.Defragment although the mode of defragment"),
	"a member is defragmented where that is off":         although[plan.Defragment](fragmented, world.SwitchFaults, "R: plan.Defragment although the mode of defragment"),
	"room is made where that is advised":                 although[plan.Defragment](spaceless, advised, "R: plan.Defragment although the mode of noSpace"),
	"history is given up where that is advised":          although[plan.Compact](spaceless, advised, "R: plan.Compact although the mode of noSpace"),
	"the alarm is disarmed where that is advised":        although[plan.Disarm](spaceless, advised, "R: plan.Disarm although the mode of noSpace"),
	"the quota is raised outside the window":             although[plan.CommitTuning](keysGrow, shut, "R: plan.CommitTuning of quota although the window"),
	"the quota is raised beside many others":             although[plan.CommitTuning](keysGrow, braked, "R: plan.CommitTuning of quota although others"),
	"the quota is raised where that is advised":          although[plan.CommitTuning](keysGrow, advised, "R: plan.CommitTuning although the mode of quota"),
	"the quota is raised where that is off":              although[plan.CommitTuning](keysGrow, world.SwitchFaults, "R: plan.CommitTuning although the mode of quota"),
	"volumes are made larger outside the window":         although[plan.CommitTuning](keysCramp, shut, "R: plan.CommitTuning of volume although the window"),
	"volumes are made larger beside many others":         although[plan.CommitTuning](keysCramp, braked, "R: plan.CommitTuning of volume although others"),
	"volumes are made larger where that is off":          although[plan.CommitTuning](keysCramp, world.SwitchFaults, "R: plan.CommitTuning although the mode of volume"),
	"volumes are made larger where that is advised":      although[plan.CommitTuning](keysCramp, advised, "R: plan.CommitTuning although the mode of volume"),
	"members are given more beside many others":          although[plan.CommitTuning](scenario{resizes: true, only: loaded.only[:1]}, braked, "R: plan.CommitTuning of resources although others"),
	"members are given less outside the window":          although[plan.CommitTuning](loaded, shut, "R: plan.CommitTuning of resources although the window"),
	"members are given more where that is off":           although[plan.CommitTuning](loaded, world.SwitchFaults, "R: plan.CommitTuning although the mode of resources"),
	"members are given more where that is advised":       although[plan.CommitTuning](loaded, advised, "R: plan.CommitTuning although the mode of resources"),
	"a patch is followed beside many others":             although[plan.CommitTuning](released, braked, "R: plan.CommitTuning of patches although others"),
	"a patch is followed where that is advised":          although[plan.CommitTuning](released, advised, "R: plan.CommitTuning although the mode of patches"),
	"a patch is given to a member where that is advised": although[plan.SetImage](released, advised, "R: c-"),
	"a patch is rolled back where that is advised": {
		next: retreatsAlways, want: "R: plan.CommitTuning although the mode of patches", scenario: scenario{
			sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), running: true, lockstep: true, tested: []string{badPatch},
			only: slices.Concat(world.PatchFaults[:1], advised), faults: 2,
		},
	},
	"a member is moved outside the window":               although[plan.CommitRelocation](slowed, shut, "R: plan.CommitRelocation of relocation although the window"),
	"a member is moved beside many others":               although[plan.CommitRelocation](slowed, braked, "R: plan.CommitRelocation of relocation although others"),
	"a member is moved where that is off":                although[plan.CommitRelocation](slowed, world.SwitchFaults, "R: plan.CommitRelocation although the mode of relocation"),
	"a member is moved where the mode is Advise":         although[plan.CommitRelocation](slowed, advised, "R: plan.CommitRelocation although the mode of relocation"),
	"a member is quarantined beside many others":         although[plan.Quarantine](odd, braked, "R: plan.Quarantine of divergedMember although others"),
	"a member is quarantined where that is off":          although[plan.Quarantine](odd, world.SwitchFaults, "R: plan.Quarantine although the mode of divergedMember"),
	"a member is quarantined where that is only advised": although[plan.Quarantine](odd, advised, "R: plan.Quarantine although the mode of divergedMember"),
}

// retreatsAlways takes a release back whatever the mode.
func retreatsAlways(o plan.Observed) plan.Action {
	free := o
	free.Cluster.Autopilot.Patches = plan.ModeOn
	if act, is := plan.Next(free).(plan.CommitTuning); is && act.Refused.Version != "" {
		return act
	}
	return plan.Next(o)
}
