package plan_test

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// follows asks for the minor release of a version only, and names asks for that very version.
func follows(v string) edit { return func(s *world.Spec) { s.Version, s.Follows = v, true } }
func names(v string) edit   { return func(s *world.Spec) { s.Version, s.Follows = v, false } }

// pausedAlone pauses and asks for nothing else.
func pausedAlone(s *world.Spec) { s.Paused = true }

// patchesAnd are the faults of worlds in which releases are followed.
func patchesAnd(faults ...world.Kind) []world.Kind { return slices.Concat(world.PatchFaults, faults) }

// betterPatch is newer than the one that never starts.
const betterPatch = "3.6.100"

// following are clusters whose specs ask for a minor release, of which there is a newer patch release one day.
var following = map[string]scenario{
	"a patch is followed where three run": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: patchesAnd(stops...), faults: 2, full: 3,
	},
	"a patch is followed where one runs": {
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: patchesAnd(stops...), faults: 2, full: 3,
	},
	"a bad patch where three run": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{badPatch}, only: patchesAnd(stops...), faults: 2, full: 3,
	},
	"a bad patch where one runs": {
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), tested: []string{badPatch}, only: patchesAnd(stops...), faults: 2, full: 3,
	},
	"a bad patch where two run": {
		sizes: []int{2}, version: "3.6.15", first: follows("3.6.15"), tested: []string{badPatch}, only: world.PatchFaults, faults: 2, full: 3,
	},
	"a bad patch, and a better one": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{badPatch, betterPatch}, only: world.PatchFaults, faults: 3, full: 4,
	},
	"a bad patch, and a version is named": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), edits: []edit{names("3.6.16")}, tested: []string{badPatch}, only: world.PatchFaults,
		faults: 2, full: 3,
	},
	"a patch, and the next minor release": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), edits: []edit{follows("3.7.3")}, tested: []string{"3.6.16"}, only: world.PatchFaults,
		faults: 2, full: 3,
	},
	"a patch that fails later where three run": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: world.LateFaults, faults: 2, full: 3,
	},
	"a patch that fails later where one runs": {
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: world.LateFaults, faults: 3, full: 4,
	},
	"a patch that fails elsewhere": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: world.FleetFaults, faults: 3, full: 4,
	},
	"a patch that fails later, and a lost status": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: slices.Concat(world.SourFaults, world.StatusFaults),
		faults: 3, full: 4,
	},
	"a bad patch, and a lost status": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{badPatch}, only: slices.Concat(world.PatchFaults, world.StatusFaults),
		faults: 2, full: 3,
	},
	"a patch, and data that differs where three run": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: world.CorruptFaults, faults: 2, full: 3,
	},
	"a patch, and data that differs where one runs": {
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: world.CorruptFaults, faults: 3, full: 4,
	},
	"a patch, data that differs, and a version is named": {
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), edits: []edit{names("3.6.16")}, tested: []string{"3.6.16"}, only: world.CorruptFaults,
		faults: 2, full: 3,
	},
	"a patch, data that differs, and a pause": {
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), edits: []edit{pausedAlone, goesOn}, tested: []string{"3.6.16"}, only: world.CorruptFaults,
		faults: 2, full: 3,
	},
	"a patch, and a pause": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), edits: []edit{pausedAlone, goesOn}, tested: []string{"3.6.16"}, only: world.PatchFaults,
		faults: 2, full: 3,
	},
	"a patch, and it grows and shrinks": {
		sizes: []int{1, 3, 1}, version: "3.6.15", first: follows("3.6.15"), tested: []string{"3.6.16"}, only: world.PatchFaults, faults: 1, full: 2,
	},
	"a patch in a template roll": {
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), edits: []edit{template(1)}, tested: []string{"3.6.16"}, only: world.PatchFaults,
		faults: 2, full: 3,
	},
}

// patched is a small world for mutants, and spoiled one whose next patch release never starts. In soured ones it fails later, or in another cluster.
var (
	patched = scenario{
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), running: true, lockstep: true, tested: []string{"3.6.16"}, only: world.PatchFaults, faults: 3,
	}
	soured = scenario{
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), running: true, lockstep: true, tested: []string{"3.6.16"},
		only: slices.Concat(world.LateFaults, world.FleetFaults), faults: 2,
	}
	soured1 = scenario{
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), running: true, lockstep: true, tested: []string{"3.6.16"}, only: world.LateFaults, faults: 2,
	}
	corrupt1 = scenario{
		sizes: []int{1}, version: "3.6.15", first: follows("3.6.15"), running: true, lockstep: true, tested: []string{"3.6.16"}, only: world.CorruptFaults, faults: 2,
	}
	spoiled = scenario{
		sizes: []int{3}, version: "3.6.15", first: follows("3.6.15"), running: true, lockstep: true, tested: []string{badPatch}, only: world.PatchFaults, faults: 2,
	}
)

// followingMutants follow patch releases carelessly.
var followingMutants = map[string]mutant{
	"a patch is followed outside the window":      {next: followsAnytime, want: "R: plan.CommitTuning of patches although the window", scenario: patched},
	"a patch is followed without a backup":        {next: followsUnsaved, want: "R: 3.6.16 is followed without", scenario: patched},
	"a patch is never followed":                   {next: followsNever, want: "L1", scenario: patched},
	"a release is followed that nobody offered":   {next: followsFurther, want: "R: 3.6.17 is followed", scenario: patched},
	"a patch is never rolled back":                {next: neverRetreats, want: "L2", scenario: spoiled},
	"a patch is tried again":                      {next: triesAgain, want: "R: 3.6.99 is tried again", scenario: spoiled},
	"a patch is not tried for long":               {next: triesBriefly, want: "R: c-", scenario: soured},
	"a learner votes that tries a patch":          {next: triesBriefly, want: "R: c-1 is to vote with 3.6.16", scenario: soured1},
	"a learner votes that failed with a patch":    {next: forgetsRefused, want: "R: c-1 is to vote with 3.6.16, which was rolled back", scenario: soured1},
	"a learner goes that may have the right data": {next: forgetsCorrupt, want: "S2: c-1 is removed (SpecChanged)", scenario: corrupt1},
	"a patch is given without another look":       {next: looksOnce, want: "R: c-1 gets 3.6.16 first", scenario: patched},
	"a patch that failed elsewhere is followed":   {next: looksAtNobody, want: "R: 3.6.16 is followed, and was rolled back", scenario: soured},
	"a patch that fails later is kept":            {next: neverRetreats, want: "L1", scenario: soured},
	"a patch is rolled back where it runs":        {next: retreatsAnyway, want: "R: 3.6.16 is rolled back", scenario: patched},
}

func followsAnytime(o plan.Observed) plan.Action {
	o.Cluster.Autopilot.Window.Open = true
	return plan.Next(o)
}

// followsUnsaved takes any snapshot for one of the last day.
func followsUnsaved(o plan.Observed) plan.Action {
	o.Cluster.Backup = plan.RecoveryBackup{Snapshot: "of last year", Taken: o.Now}
	return plan.Next(o)
}

func followsNever(o plan.Observed) plan.Action {
	o.Cluster.NewestPatch = ""
	return plan.Next(o)
}

// followsFurther thinks that there is one more.
func followsFurther(o plan.Observed) plan.Action {
	if o.Cluster.NewestPatch == "3.6.16" {
		o.Cluster.NewestPatch = "3.6.17"
	}
	return plan.Next(o)
}

// neverRetreats takes every update for one that has just begun.
func neverRetreats(o plan.Observed) plan.Action {
	o.Cluster.Tuned.Patch.Trial.Failing = time.Time{}
	return plan.Next(o)
}

// triesAgain does not know what was rolled back.
func triesAgain(o plan.Observed) plan.Action {
	o.Cluster.RefusedPatches, o.Cluster.Backup = nil, plan.RecoveryBackup{Snapshot: "snapshot", Taken: o.Now}
	return plan.Next(o)
}

// forgetsRefused knows no release that was rolled back.
func forgetsRefused(o plan.Observed) plan.Action {
	o.Cluster.RefusedPatches = nil
	return plan.Next(o)
}

// forgetsCorrupt knows no alarm once a release was rolled back.
func forgetsCorrupt(o plan.Observed) plan.Action {
	if len(o.Cluster.RefusedPatches) > 0 {
		return hearsNoAlarm(o)
	}
	return plan.Next(o)
}

// triesBriefly takes whoever is healthy for one who has been for long.
func triesBriefly(o plan.Observed) plan.Action {
	if t := &o.Cluster.Tuned.Patch.Trial; !t.Healthy.IsZero() {
		t.Healthy = o.Now.Add(-time.Hour)
	}
	return plan.Next(o)
}

// looksOnce looks for a backup before it chooses a release, and never again.
func looksOnce(o plan.Observed) plan.Action {
	if o.Cluster.Tuned.Patch.InsteadOf != "" {
		o.Cluster.Backup = plan.RecoveryBackup{Snapshot: "of last year", Taken: o.Now}
	}
	return plan.Next(o)
}

// looksAtNobody knows of no other cluster.
func looksAtNobody(o plan.Observed) plan.Action {
	o.Cluster.RefusedElsewhere = time.Time{}
	return plan.Next(o)
}

// retreatsAnyway takes a release back in the middle of its update.
func retreatsAnyway(o plan.Observed) plan.Action {
	p := o.Cluster.Tuned.Patch
	for _, pod := range o.Pods {
		if a, ok := answerBy(o, pod.Name); ok && p.InsteadOf != "" && a.Version == p.Version && time.Time.Equal(p.Since, o.Now) {
			return plan.CommitTuning{
				Tuned:       plan.Tuned{Patch: plan.Patch{Version: p.InsteadOf, Since: o.Now}},
				FromVersion: p.Version, Refused: plan.RefusedPatch{Version: p.Version, Since: o.Now},
			}
		}
	}
	return plan.Next(o)
}

// answerBy finds what a pod's server answers.
func answerBy(o plan.Observed, pod string) (plan.Answer, bool) {
	i := slices.IndexFunc(o.Etcd.Answers, func(a plan.Answer) bool { return a.Pod == pod })
	if i < 0 {
		return plan.Answer{}, false
	}
	return o.Etcd.Answers[i], true
}
