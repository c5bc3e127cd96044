package plan_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// replayed are scenarios in which much of what can be observed is, with so many faults that they have few states.
var replayed = map[string]int{
	"claims of others where three run": 1, "slow and hung disks where three run": 1, "restore called off in a first start": 0,
	"after coreos/etcd-operator": 1, "update: template of 1": 1, "update: downgrade of 1": 0, "update: other kind of data of 1": 1,
	"update: restore in an update": 0, "update: called off in a bad update": 0, "update: bigger volumes": 0,
	"update: spec that cannot work": 0,
}

// TestReplay logs what is observed in every state of some worlds, and wants the same decision from what is read of that, by the
// same rule and guard, and the same to be kept in status.
func TestReplay(t *testing.T) {
	for title, faults := range replayed {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			differs, s := 0, scenarioOf(t, title)
			s.faults = faults
			w := s.with(true, false, func(o plan.Observed) plan.Action {
				a, rule, guard := plan.DecidedBy(o)
				if why := replayedOtherwise(t, o, a, rule, guard); why != "" && differs < 3 {
					differs++
					t.Error(why)
				}
				return a
			})
			w.SafetyOnly = true
			report := world.Explore(w)
			t.Log(report)
			if report.Violation != nil {
				t.Error(report.Violation)
			}
		})
	}
}

func scenarioOf(t *testing.T, title string) scenario {
	t.Helper()
	if s, ok := scenarios[title]; ok {
		return s
	}
	s, ok := updates[strings.TrimPrefix(title, "update: ")]
	if !ok {
		t.Fatalf("there is no scenario %s", title)
	}
	s.running, s.lockstep = true, true
	return s
}

// replayedOtherwise says what comes out otherwise if the observation goes by way of the log, empty if nothing does.
func replayedOtherwise(t *testing.T, o plan.Observed, a plan.Action, rule, guard string) string {
	t.Helper()
	line, err := replay.Pass{Observed: o}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := replay.Read(line)
	if err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	again := read[0].Observed
	e := plan.Explain(again)
	by := e.Rule
	if e.Group != "" {
		by = e.Group + "/" + e.Rule
	}
	if !reflect.DeepEqual(e.Action, a) || by != rule || e.Guard != guard {
		return world.Notation(a) + " by " + rule + " " + guard + " is now " + world.Notation(e.Action) + " by " + by + " " +
			e.Guard + ": " + string(line)
	}
	if was, is := kept(t, o, a), kept(t, again, e.Action); !bytes.Equal(was, is) {
		return "status keeps\n" + string(was) + "\nand now\n" + string(is) + "\nof " + string(line)
	}
	return ""
}

// kept is what status keeps once the action is done, with names for specs.
func kept(t *testing.T, o plan.Observed, a plan.Action) []byte {
	t.Helper()
	o.Cluster.Record = o.Cluster.Apply(a, o)
	line, err := replay.Pass{Observed: plan.Observed{Cluster: o.Cluster}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return line
}
