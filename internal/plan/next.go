package plan

import v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"

// Next decides what to do now.
func Next(o Observed) Action {
	a, _ := Decide(o)
	return a
}

// Decide is Next, and also returns what the decision is based on.
func Decide(o Observed) (Action, Assessment) {
	v := newView(o)
	a, _ := v.decide()
	return a, v.Assessment
}

// origin is where a decision comes from, as pointers into the lists.
type origin struct {
	rule  *rule  // nil if no rule applied
	guard *guard // nil unless one has replaced the rule's action
}

func (v *view) decide() (Action, origin) {
	state := v.state()
	for _, g := range state.groups {
		for i, r := range g.rules {
			if a := r(v); a != nil {
				a, by := v.guarded(state.guards, a)
				return a, origin{&g.rules[i], by}
			}
		}
	}
	return Idle{Reason: v1beta2.ReasonSpecReached, Message: v.summary()}, origin{}
}

// guarded returns the action to take instead of a rule's, and the guard that objected to it, if any did.
func (v *view) guarded(guards []guard, a Action) (Action, *guard) {
	for i := range guards {
		if instead := guards[i](v, a); instead != nil {
			return instead, &guards[i]
		}
	}
	return a, nil
}
