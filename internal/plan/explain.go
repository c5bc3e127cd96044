package plan

import (
	_ "embed" // for Lists
	"reflect"
	"runtime"
	"strings"
)

// Lists is the source of the lists, whose comments are the only description of rules and guards.
//
//go:embed lists.go
var Lists string

// Explanation is how a decision was made. Rules, guards and groups have the names of the lists.
type Explanation struct {
	// Assessment is what the rules decide by.
	Assessment Assessment
	// State is the cluster's: unstarted, bootstrapping, restoring, running or hibernating.
	State string
	// Groups are the groups of that state, in the order in which they are evaluated.
	Groups []RuleGroup
	// Group and Rule are the rule that applied, both empty if none did; RuleAction is the action that it returned.
	Group, Rule string
	RuleAction  Action
	// Guards check that action, in this order. Guard is the one that has replaced it, empty if none has.
	Guards []string
	Guard  string
	// PassedOver are the rules before it whose actions the API server refuses.
	PassedOver []string
	// Action is the decision.
	Action Action
}

// RuleGroup is a group with its rules, in order.
type RuleGroup struct {
	Name  string
	Rules []string
}

// Explain is Decide, and also returns which rules were evaluated and which one applied: those before it did not.
func Explain(o Observed) Explanation {
	v := newView(o)
	state := v.state()
	from := v.decide()
	v.Feature = from.feature()
	e := Explanation{Assessment: v.Assessment, State: state.name, RuleAction: from.action, Action: from.action}
	for _, r := range from.passedOver {
		e.PassedOver = append(e.PassedOver, nameOf(*r))
	}
	for _, g := range state.groups {
		named := RuleGroup{Name: g.name}
		for i := range g.rules {
			named.Rules = append(named.Rules, nameOf(g.rules[i]))
			if &g.rules[i] == from.rule {
				e.Group, e.Rule, e.RuleAction = g.name, nameOf(g.rules[i]), g.rules[i](v)
			}
		}
		e.Groups = append(e.Groups, named)
	}
	if from.rule == nil { // no rule applied, so there is nothing for guards to check
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

// nameOf returns the name of a rule's or guard's function.
func nameOf(f any) string {
	function := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return function[strings.LastIndexByte(function, '.')+1:]
}
