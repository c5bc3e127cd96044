package plan_test

import "github.com/etcdpilot/etcd-operator/internal/world"

// lingering are the scenarios in which a deleted pod ends and does not go: a finalizer keeps it, or a volume that is not unmounted.
// All are in lockstep. Where it stays for good, its member is replaced.
var lingering = map[string]scenario{
	"where three run":          {sizes: []int{3}, running: true, faults: 2, full: 3},
	"in a first start of 1":    {sizes: []int{1}, faults: 2, full: 3},
	"in a first start of 3":    {sizes: []int{3}, faults: 1, full: 2},
	"from 3 to 1 and back":     {sizes: []int{3, 1, 3}, running: true, faults: 1, full: 2},
	"in a template of 3":       {sizes: []int{3}, running: true, edits: []edit{template(1)}, faults: 1, full: 2},
	"in a restore of 3":        {sizes: []int{3}, running: true, edits: []edit{snapshot(1)}, faults: 1, full: 2},
	"for good where three run": {sizes: []int{3}, running: true, silent: true, faults: 2, full: 3},
	"for good, in a template":  {sizes: []int{3}, running: true, edits: []edit{template(1)}, silent: true, faults: 1, full: 2},
}

// placed are the scenarios in which volumes are on nodes, or in zones, that go and come back. Each is explored twice: for a while, at any
// time, and for good.
var placed = map[string]scenario{
	"in a first start of 1": {sizes: []int{1}, faults: 2, full: 3},
	"in a first start of 3": {sizes: []int{3}, faults: 1, full: 2},
	"where one runs":        {sizes: []int{1}, running: true, faults: 2, full: 3},
	"where two run":         {sizes: []int{2}, running: true, faults: 2, full: 3},
	"where three run":       {sizes: []int{3}, running: true, faults: 1, full: 2},
	"from 1 to 3":           {sizes: []int{1, 3}, running: true, faults: 1, full: 2},
	"from 3 to 2":           {sizes: []int{3, 2}, running: true, faults: 1, full: 2},
	"in a template of 3":    {sizes: []int{3}, running: true, edits: []edit{template(1)}, faults: 1, full: 2},
	"in a restore of 1":     {sizes: []int{1}, running: true, edits: []edit{snapshot(1)}, faults: 1, full: 2},
	"of a deleted cluster":  {sizes: []int{3}, retained: true, faults: 1, full: 2},
}

// allPlaced are those scenarios.
func allPlaced() map[string]scenario {
	all := map[string]scenario{}
	for title, s := range placed {
		s.lockstep, s.local, s.only = true, true, world.PlacementFaults
		all["nodes go "+title] = s
		if s.razed = true; s.running && len(s.sizes) == 1 && len(s.edits) == 0 {
			s.faults = 2
		}
		all["nodes go for good "+title] = s
	}
	return all
}

// allLingering are those scenarios.
func allLingering() map[string]scenario {
	all := map[string]scenario{}
	for title, s := range lingering {
		s.lockstep, s.only = true, world.LingerFaults
		all["pods linger "+title] = s
	}
	return all
}
