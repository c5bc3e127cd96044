package plan

import (
	"maps"
	"slices"
)

// states are all that a cluster can be in.
var states = []state{unstarted, bootstrapping, restoring, running, hibernating}

// rules and guards are named after their functions: the rules by their places in the groups, as group/rule, for some stand in two.
var (
	rules  = map[*rule]string{}
	guards = map[*guard]string{}
)

func init() {
	for _, s := range states {
		for _, g := range s.groups {
			for i := range g.rules {
				rules[&g.rules[i]] = g.name + "/" + nameOf(g.rules[i])
			}
		}
		for i := range s.guards {
			guards[&s.guards[i]] = nameOf(s.guards[i])
		}
	}
}

// DecidedBy is Next, and tells which rule has answered first, and which guard has put its own answer in the place of the rule's;
// each is empty if none has.
func DecidedBy(o Observed) (a Action, rule, guard string) {
	d := newView(o).decide()
	return d.action, rules[d.rule], guards[d.guard]
}

// Rules are all there are, as DecidedBy names them.
func Rules() []string { return slices.Sorted(maps.Values(rules)) }
