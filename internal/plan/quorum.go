package plan

import "slices"

// Quorum returns how many of n voters must agree.
func Quorum(n int) int { return n/2 + 1 }

// MinAvailable returns how many of n voters must stay available while the operator disrupts none: one voter may be evicted
// unless the quorum needs it.
func MinAvailable(n int) int { return max(Quorum(n), n-1) }

// minAvailable is how many voters must stay available while the operator disrupts none. An eviction ends the data of one on an emptyDir: so none is
// allowed while that may be what is right.
func (v *view) minAvailable() int {
	if v.disputed() && slices.ContainsFunc(v.voters, func(m Member) bool { p, there := v.pods[m.Name]; return there && !p.Persistent }) {
		return len(v.voters)
	}
	return MinAvailable(len(v.voters))
}

// healthyVoters counts the healthy voters, not counting the one named except.
func (v *view) healthyVoters(except string) int {
	n := 0
	for _, m := range v.voters {
		if m.Name != except && v.healthy(m) {
			n++
		}
	}
	return n
}

// unhealthyVoters returns the names of the voters that are not healthy.
func (v *view) unhealthyVoters() (names []string) {
	for _, m := range v.voters {
		if !v.healthy(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// safeToRemove reports whether the remaining voters are a healthy quorum. Removing a learner is always safe.
func (v *view) safeToRemove(m Member) bool {
	if m.Learner {
		return true
	}
	rest := len(v.voters) - 1
	return rest > 0 && v.healthyVoters(m.Name) >= Quorum(rest)
}

// safeToRestart reports whether the other voters are a healthy quorum of all.
func (v *view) safeToRestart(m Member) bool {
	return m.Learner || v.healthyVoters(m.Name) >= Quorum(len(v.voters))
}

// safeToPromote reports whether the voters including the learner are a healthy quorum.
func (v *view) safeToPromote() bool {
	return v.healthyVoters("")+1 >= Quorum(len(v.voters)+1)
}

// evictionsBlocked reports whether the budget is raised to disrupt a voter.
func (v *view) evictionsBlocked() bool {
	return v.Budget.Exists && v.Budget.MinAvailable > v.minAvailable()
}

// raiseBudgetTo raises minAvailable to n, nil if it is that high already.
func (v *view) raiseBudgetTo(n int) Action {
	if !v.Budget.Exists || v.Budget.MinAvailable < n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}
