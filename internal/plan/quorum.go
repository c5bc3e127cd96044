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
	return rest > 0 && v.remaining(m) >= Quorum(rest)
}

// safeToRestart reports whether the other voters are a healthy quorum of all.
func (v *view) safeToRestart(m Member) bool {
	return m.Learner || v.remaining(m) >= Quorum(len(v.voters))
}

// remaining counts the healthy voters without one. If that one is healthy too, so that it is the operator that takes it away, only those count that no
// eviction takes meanwhile: the budget covers the pods in the client Service.
func (v *view) remaining(m Member) int {
	n := v.healthyVoters(m.Name)
	if v.healthy(m) {
		n -= len(v.openVoters(m))
	}
	return n
}

// openVoters returns the names of the healthy voters but that one that the budget does not protect from evictions, because clients are not sent there.
func (v *view) openVoters(but Member) (names []string) {
	for _, m := range v.voters {
		if m.Name != but.Name && v.healthy(m) && !v.pods[m.Name].InService {
			names = append(names, m.Name)
		}
	}
	return names
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
