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

// allLingering are those scenarios.
func allLingering() map[string]scenario {
	all := map[string]scenario{}
	for title, s := range lingering {
		s.lockstep, s.only = true, world.LingerFaults
		all["pods linger "+title] = s
	}
	return all
}
