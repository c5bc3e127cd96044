package world

import (
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestSeedForeseesAutopilot does as TestSeedForesees where Auto Pilot acts.
func TestSeedForeseesAutopilot(t *testing.T) {
	three := Spec{Size: 3, Persistent: true, Version: "3.6.16"}
	follows := Spec{Size: 3, Persistent: true, Version: "3.6.15", Follows: true}
	on := plan.ModeOn
	for title, c := range map[string]struct {
		spec  Spec
		may   plan.Autopilot
		found func(*World)
		// acts are what is foreseen at first, among other steps.
		acts []string
	}{
		"quota": {
			three,
			plan.Autopilot{Grow: on, MaxQuota: 8 << 30},
			func(w *World) { w.Keys = 1 },
			[]string{"commit-tuning 1577058304", "recreate", "recreate", "recreate"},
		},
		"defragmentation": {
			three,
			plan.Autopilot{Defragment: on},
			func(w *World) { w.Pods[0].Holey, w.Pods[1].Holey, w.Keys = true, true, 2 },
			[]string{"defragment", "defragment"},
		},
		"room": {
			three,
			plan.Autopilot{NoSpace: on, Compact: true},
			func(w *World) {
				w.fill()
				w.History = false
				w.Pods[0].Holey, w.Pods[1].Holey, w.Pods[2].Holey = true, true, true
			},
			[]string{"defragment", "defragment", "defragment", "disarm NOSPACE"},
		},
		"data that differs": {
			three,
			plan.Autopilot{Diverged: on},
			func(w *World) { w.Odd, w.Twice = w.Etcd.Groups[0].Members[1].ID, true },
			[]string{"quarantine c-1", "add-learner c-3", "promote c-3", "remove-member c-1"},
		},
		"data that differs, and an alarm": {
			three,
			plan.Autopilot{Diverged: on},
			func(w *World) { w.Odd, w.Alarm = w.Etcd.Groups[0].Members[1].ID, true },
			[]string{"quarantine c-1", "remove-member c-1", "disarm CORRUPT", "add-learner c-3", "promote c-3"},
		},
		"a slow disk": {
			three,
			plan.Autopilot{Relocation: on},
			func(w *World) { w.Pods[1].Drags = true },
			[]string{"commit-relocation c-1", "add-learner c-3", "promote c-3", "remove-member c-1"},
		},
		"a patch": {
			follows,
			plan.Autopilot{Patches: on},
			func(w *World) { w.Newest = "3.6.16" },
			[]string{"commit-tuning 0 0 0 0 3.6.16 3.6.15", "set-image", "set-image", "set-image"},
		},
		"a larger cluster that follows": {
			follows,
			plan.Autopilot{Patches: on},
			func(w *World) { w.Newest, w.Size = "3.6.16", 5 },
			[]string{"promote", "promote", "commit-tuning 0 0 0 0 3.6.16 3.6.15", "set-image", "set-image", "set-image", "set-image", "set-image"},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := New(&Config{Next: plan.Next, Autopilot: c.may, Tested: []string{"3.6.16"}}, c.spec)
			w.Settle()
			c.found(w)
			inOrder(t, notations(w.Foresee()), c.acts)
			foreseesAllTheWay(t, w)
		})
	}
}

// TestSeedForeseesOnce foresees what is not the same in a made-up world, whose databases fill any quota, and whose members use as much as ever.
func TestSeedForeseesOnce(t *testing.T) {
	on := plan.ModeOn
	for title, c := range map[string]struct {
		may     plan.Autopilot
		found   func(*World, *plan.Observed)
		acts    []string
		unknown bool
	}{
		"a quota that is full": {
			plan.Autopilot{NoSpace: on, Grow: on, MaxQuota: 8 << 30},
			func(w *World, _ *plan.Observed) { w.fill(); w.History = false },
			[]string{"commit-tuning 1577058304", "recreate", "recreate", "recreate", "disarm NOSPACE", "idle SpecReached"},
			false,
		},
		"history that can be given up": {
			plan.Autopilot{NoSpace: on, Compact: true},
			func(w *World, _ *plan.Observed) { w.fill() },
			[]string{"compact 1"},
			true,
		},
		"volumes without room": {
			plan.Autopilot{Grow: on, MaxQuota: 8 << 30, Enlarge: on, MaxVolume: 8 << 30},
			func(w *World, o *plan.Observed) {
				o.Cluster.VolumeSize, o.Cluster.SpecVolumeSize = 2<<30, 2<<30
				for i := range o.Volumes {
					o.Volumes[i].Requested = 2 << 30
				}
				for i := range o.Etcd.Answers {
					o.Etcd.Answers[i].DBSizeInUse = 900 << 20
				}
			},
			[]string{"commit-tuning 0 0 4294967296", "expand", "commit-tuning 1577058304", "recreate", "recreate", "recreate", "idle SpecReached"},
			false,
		},
		"members that use most": {
			plan.Autopilot{Resources: on, MinResources: plan.Resources{CPU: leastAmount}, MaxResources: plan.Resources{CPU: mostAmount}},
			func(w *World, _ *plan.Observed) { w.Load = heavy },
			[]string{"commit-tuning 0 0 0 0 1300", "resize c-0", "resize c-1", "resize c-2", "idle SpecReached"},
			false,
		},
		"members that have not what the others have": {
			plan.Autopilot{Resources: on, MinResources: plan.Resources{CPU: leastAmount}, MaxResources: plan.Resources{CPU: mostAmount}},
			func(w *World, _ *plan.Observed) {
				w.Load = heavy
				w.pass() // the amount is chosen
				w.pass() // and one pod resized
			},
			[]string{"resize c-1", "resize c-2", "idle SpecReached"},
			false,
		},
	} {
		t.Run(title, func(t *testing.T) {
			w := New(&Config{Next: plan.Next, Autopilot: c.may}, Spec{Size: 3, Persistent: true, Version: "3.6.16"})
			w.Settle()
			o := w.Observe(&w.Kube)
			if c.found(w, &o); w.Full || w.Load != usual {
				o = w.Observe(&w.Kube)
			}
			seeded, err := Seed(o)
			if err != nil {
				t.Fatalf("%v, where the operator decides %s", err, Notation(plan.Next(o)))
			}
			f := seeded.Foresee()
			if inOrder(t, notations(f), c.acts); c.unknown != (f.Unknown != "") || c.unknown != (f.End == nil) {
				t.Errorf("it ends with %+v, and unknown is %q", f.End, f.Unknown)
			}
		})
	}
}

// TestSeedAfterSignals seeds a world in every state that signals of Auto Pilot lead to: in all of them the operator decides the same.
func TestSeedAfterSignals(t *testing.T) {
	on := plan.ModeOn
	for title, c := range map[string]struct {
		may   plan.Autopilot
		kinds []Kind
	}{
		"keys":      {plan.Autopilot{NoSpace: on, Grow: on, MaxQuota: 1600 * mebi}, []Kind{keysFill, quotaReached, leaderMoves}},
		"databases": {plan.Autopilot{NoSpace: on, Compact: true, Defragment: on}, DatabaseFaults},
		"data":      {plan.Autopilot{Diverged: on}, DifferingFaults},
		"disks":     {plan.Autopilot{Relocation: on}, RelocationFaults},
		"patches":   {plan.Autopilot{Patches: on}, PatchFaults},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := Scenario{Running: true, Lockstep: true, SafetyOnly: true, Faults: 1, Kinds: c.kinds}
			s.Spec = Spec{Size: 3, Persistent: true, Version: "3.6.15", Follows: true}
			s.Autopilot, s.Tested = c.may, []string{"3.6.16"}
			looked := 0
			s.Next = func(o plan.Observed) plan.Action {
				looked++
				if _, err := Seed(o); err != nil && o.Etcd.Contact == plan.ContactQuorum && o.Cluster.ID != 0 && !t.Failed() {
					t.Errorf("%v, where the operator decides %s", err, Notation(plan.Next(o)))
				}
				return plan.Next(o)
			}
			if report := Explore(s); report.Violation != nil || looked == 0 {
				t.Errorf("after %d observations: %v", looked, report.Violation)
			}
		})
	}
}

// TestSeedGoesOnFromAnyRevision wants nobody to take what the model says of the revision for a loss.
func TestSeedGoesOnFromAnyRevision(t *testing.T) {
	w := New(&Config{Next: plan.Next}, Spec{Size: 3, Persistent: true, Version: "3.6.16"})
	w.Settle()
	o := w.Observe(&w.Kube)
	o.Cluster.Revision, o.Etcd.Revision, o.Etcd.RevisionCeiling = 80_000, 81_223, 81_223
	if _, err := Seed(o); err != nil {
		t.Error(err)
	}
}

// inOrder checks that all of these begin a step, in this order.
func inOrder(t *testing.T, steps, want []string) {
	t.Helper()
	left := want
	for _, s := range steps {
		if len(left) > 0 && strings.HasPrefix(s, left[0]) {
			left = left[1:]
		}
	}
	if len(left) > 0 {
		t.Errorf("not foreseen from %q on:\n%s", left[0], strings.Join(steps, "\n"))
	}
}
