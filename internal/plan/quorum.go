package plan

// Quorum is how many of n voters must agree.
func Quorum(n int) int { return n/2 + 1 }

// MinAvailable is how many of n voters must stay available when the operator itself disturbs none: others may take one,
// and never one that the quorum needs.
func MinAvailable(n int) int { return max(Quorum(n), n-1) }

// healthyVoters counts the voters that can be counted on, the one named except left out.
func (v *view) healthyVoters(except string) int {
	n := 0
	for _, m := range v.voters {
		if m.Name != except && v.healthy(m) {
			n++
		}
	}
	return n
}

// safeToRemove tells whether the voters that remain keep a healthy quorum. A learner's going never matters to it.
func (v *view) safeToRemove(m Member) bool {
	if m.Learner {
		return true
	}
	rest := len(v.voters) - 1
	return rest > 0 && v.healthyVoters(m.Name) >= Quorum(rest)
}

// safeToRestart tells whether the voters other than this one are a healthy quorum of all.
func (v *view) safeToRestart(m Member) bool {
	return m.Learner || v.healthyVoters(m.Name) >= Quorum(len(v.voters))
}

// safeToPromote tells whether the voters, the learner among them, keep a healthy quorum.
func (v *view) safeToPromote() bool {
	return v.healthyVoters("")+1 >= Quorum(len(v.voters)+1)
}

// evictionsBlocked tells whether the operator has closed the budget to disturb a voter.
func (v *view) evictionsBlocked() bool {
	return v.Budget.Exists && v.Budget.MinAvailable > MinAvailable(len(v.voters))
}

// raiseBudgetTo raises the budget to that many pods, nil if it is that high.
func (v *view) raiseBudgetTo(n int) Action {
	if !v.Budget.Exists || v.Budget.MinAvailable < n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}
