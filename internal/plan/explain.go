package plan

import (
	_ "embed" // for Lists
	"reflect"
	"runtime"
	"strings"
)

// Lists is the source of the lists. What each rule and guard is for is said there and nowhere else.
//
//go:embed lists.go
var Lists string

// Explanation is how an answer came about. Rules, guards and groups are named as in the lists.
type Explanation struct {
	// Assessment is what the rules decide by.
	Assessment Assessment
	// State is the cluster's: beginning, starting, restoring or running.
	State string
	// Groups are asked in that state, in this order, until one rule answers.
	Groups []RuleGroup
	// Group and Rule are who has answered, both empty if nobody has; Answer is what was said then.
	Group, Rule string
	Answer      Action
	// Guards are asked about that, in this order, until one has put its own answer in its place: Guard, empty if none has.
	Guards []string
	Guard  string
	// Action is what is done.
	Action Action
}

// RuleGroup is a group with its rules, in order.
type RuleGroup struct {
	Name  string
	Rules []string
}

// Explain is Decide, and tells who was asked, and who has answered. Whoever was asked before had nothing to say.
func Explain(o Observed) Explanation {
	v := newView(o)
	state := v.state()
	action, from := v.decide()
	e := Explanation{Assessment: v.Assessment, State: state.name, Answer: action, Action: action}
	for _, g := range state.groups {
		named := RuleGroup{Name: g.name}
		for i := range g.rules {
			named.Rules = append(named.Rules, nameOf(g.rules[i]))
			if &g.rules[i] == from.rule {
				e.Group, e.Rule, e.Answer = g.name, nameOf(g.rules[i]), g.rules[i](v)
			}
		}
		e.Groups = append(e.Groups, named)
	}
	if from.rule == nil { // no guard is asked about what nobody has said
		return e
	}
	for i := range state.guards {
		e.Guards = append(e.Guards, nameOf(state.guards[i]))
		if &state.guards[i] == from.guard {
			e.Guard = nameOf(state.guards[i])
		}
	}
	return e
}

// memberByID is the name of a rule or guard: its function's.
func nameOf(f any) string {
	function := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return function[strings.LastIndexByte(function, '.')+1:]
}
