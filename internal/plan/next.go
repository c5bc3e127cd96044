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
	d := v.decide()
	v.Feature = d.feature()
	return d.action, v.Assessment
}

// decision is an action, and where it comes from, as pointers into the lists.
type decision struct {
	action Action
	rule   *rule  // nil if no rule applied
	guard  *guard // nil unless one has replaced the rule's action
	// passedOver are the rules whose actions the API server refuses.
	passedOver []*rule
}

func (v *view) decide() decision {
	state := v.state()
	var d decision
	for _, g := range state.groups {
		for i, r := range g.rules {
			wanted := r(v)
			if wanted == nil {
				continue
			}
			d.rule = &g.rules[i]
			d.action, d.guard = v.guarded(state.guards, wanted)
			if !v.refused(wanted) && !v.refused(d.action) {
				return d
			}
			d.passedOver = append(d.passedOver, d.rule)
			if g.order == strict {
				d.guard = nil
				if report := v.reportRefused(); report != nil {
					d.action = report
				}
				return d
			}
		}
	}
	d.rule, d.guard = nil, nil
	if d.action = v.reportRefused(); d.action == nil {
		d.action = Idle{Reason: v1beta2.ReasonSpecReached, Message: v.summary()}
	}
	return d
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
