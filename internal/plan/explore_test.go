package plan_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// ordinary are the faults that every cluster meets sooner or later.
var ordinary = slices.Concat(
	world.PodFaults, world.NodeFaults, world.VolumeFaults, world.OperatorFaults, world.TimeFaults)

// scenario is one exploration for the usual test. Full says what `make explore` makes of it.
type scenario struct {
	sizes    []int // the first one, and those that the user asks for later
	running  bool
	retained bool // what an earlier cluster has left; with volumes only
	version  string
	kinds    []world.Kind // in addition to the ordinary ones
	lockstep bool
	faults   int
	full     int
}

var scenarios = map[string]scenario{
	"first start of 1":                  {sizes: []int{1}, faults: 2, full: 3},
	"first start of 2":                  {sizes: []int{2}, faults: 1, full: 2},
	"first start of 3":                  {sizes: []int{3}, faults: 0, full: 1},
	"first start of 3 in lockstep":      {sizes: []int{3}, lockstep: true, faults: 2, full: 2},
	"first start of 1 then 3":           {sizes: []int{1, 3}, lockstep: true, faults: 1, full: 2},
	"first start of 5":                  {sizes: []int{5}, lockstep: true, faults: 0, full: 1},
	"one runs":                          {sizes: []int{1}, running: true, faults: 2, full: 3},
	"two run":                           {sizes: []int{2}, running: true, faults: 2, full: 3},
	"three run":                         {sizes: []int{3}, running: true, lockstep: true, faults: 2, full: 2},
	"five run":                          {sizes: []int{5}, running: true, lockstep: true, faults: 1, full: 2},
	"from 1 to 3":                       {sizes: []int{1, 3}, running: true, lockstep: true, faults: 1, full: 2},
	"from 3 to 1":                       {sizes: []int{3, 1}, running: true, lockstep: true, faults: 1, full: 2},
	"from 3 to 2 and back":              {sizes: []int{3, 2, 3}, running: true, lockstep: true, faults: 1, full: 2},
	"from 2 to 3 to 1":                  {sizes: []int{2, 3, 1}, running: true, lockstep: true, faults: 1, full: 2},
	"volumes of a deleted cluster of 3": {sizes: []int{3}, retained: true, lockstep: true, faults: 1, full: 2},
	"volumes of 3 for a cluster of 1":   {sizes: []int{3, 1}, retained: true, lockstep: true, faults: 1, full: 2},
	"from 1 to 3 with etcd 3.5, one learner at a time": {
		sizes: []int{1, 3}, running: true, version: "3.5.35", lockstep: true, faults: 1, full: 2,
	},
	"strange things in a first start": {
		sizes: []int{3}, kinds: world.StrangeFaults, lockstep: true, faults: 1, full: 2,
	},
	"strange things where three run": {
		sizes: []int{3}, running: true, kinds: world.StrangeFaults, lockstep: true, faults: 1, full: 2,
	},
}

func TestExplore(t *testing.T) {
	full := os.Getenv("EXPLORE") == "full"
	if !full { // there is memory to spare, and less time
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	t.Run("all", func(t *testing.T) {
		for title, s := range scenarios {
			for _, persistent := range []bool{false, true} {
				if s.retained && !persistent {
					continue
				}
				t.Run(fmt.Sprintf("%s persistent=%t", title, persistent), func(t *testing.T) {
					t.Parallel()
					r := world.Explore(s.with(persistent, full, plan.Next))
					t.Log(r)
					if r.Violation != nil {
						t.Error(r.Violation)
					}
				})
			}
		}
	})
}

func (s scenario) with(persistent, full bool, next world.Planner) world.Scenario {
	if s.version == "" {
		s.version = "3.7.3"
	}
	if full {
		s.faults = s.full
	}
	return world.Scenario{
		Config: world.Config{Persistent: persistent, Version: s.version, Next: next},
		Size:   s.sizes[0], Edits: s.sizes[1:], Running: s.running, Retained: s.retained,
		Lockstep: s.lockstep, Faults: s.faults, Kinds: slices.Concat(ordinary, s.kinds),
	}
}
