package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Quorum is how many of n voters must agree.
func Quorum(n int) int { return n/2 + 1 }

// OpenBudget is how many of n voters must stay available when the operator itself disturbs none: others may take one,
// and never one that the quorum needs.
func OpenBudget(n int) int { return max(Quorum(n), n-1) }

// healthyVoters counts the voters that can be counted on, the one named except left out.
func (v *view) healthyVoters(except string) int {
	n := 0
	for _, m := range v.voters() {
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
	rest := len(v.voters()) - 1
	return rest > 0 && v.healthyVoters(m.Name) >= Quorum(rest)
}

// safeToRestart tells whether the voters other than this one are a healthy quorum of all.
func (v *view) safeToRestart(m Member) bool {
	return m.Learner || v.healthyVoters(m.Name) >= Quorum(len(v.voters()))
}

// safeToPromote tells whether the voters, the learner among them, keep a healthy quorum.
func (v *view) safeToPromote() bool {
	return v.healthyVoters("")+1 >= Quorum(len(v.voters())+1)
}

// guard is the one chokepoint for what the operator does to voters (S1): it vetoes what would cost the quorum, and
// closes the budget first, so that an eviction and our own doing cannot take two voters at once.
//
// Before the latch there are no voters yet to protect: an abandoned attempt may well still answer.
func guard(v *view, a Action) Action {
	if v.Cluster.ID == 0 {
		return a
	}
	victim, safe := v.victimOf(a)
	if victim.ID == 0 || victim.Learner {
		return a
	}
	if !safe {
		return Wait{
			Reason: v1beta2.ReasonQuorumAtRisk, After: pollSlow,
			Message: fmt.Sprintf("taking %s away would cost the quorum: only %d of %d voters are healthy",
				victim.Name, v.healthyVoters(""), len(v.voters())),
		}
	}
	return v.closeBudget(a)
}

// victimOf is the member that an action disturbs, none if it disturbs nobody, and whether the others can do without it.
func (v *view) victimOf(a Action) (victim Member, safe bool) {
	switch act := a.(type) {
	case RemoveMember:
		victim = v.members[act.Name]
		return victim, v.safeToRemove(victim)
	case SetImage:
		victim = v.members[act.Name]
	case Recreate:
		victim = v.members[act.Name]
	case DeletePod:
		if v.pods[act.Name].Phase != Running {
			return Member{}, true
		}
		victim = v.members[act.Name]
	default:
	}
	return victim, v.safeToRestart(victim)
}

// closed tells whether the operator has closed the budget to disturb a voter.
func (v *view) closed() bool {
	return v.Budget.Exists && v.Budget.MinAvailable > OpenBudget(len(v.voters()))
}

func (v *view) closeBudget(a Action) Action {
	if n := len(v.voters()); !v.Budget.Exists || v.Budget.MinAvailable < n {
		return SetBudget{MinAvailable: n}
	}
	if !v.Budget.Settled {
		return Wait{
			Reason: v1beta2.ReasonWaitingForBudget, After: pollFast,
			Message: "waiting until the closed PodDisruptionBudget is in force and no eviction is in flight",
		}
	}
	return a
}

// raiseBudget comes before a new voter serves: pods that serve are what the budget counts, and one that was right for
// fewer voters would let an eviction take the quorum.
func raiseBudget(v *view) Action {
	if n := OpenBudget(len(v.voters())); !v.Budget.Exists || v.Budget.MinAvailable < n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}

// openBudget lets others evict again as soon as the operator is done.
func openBudget(v *view) Action {
	if n := OpenBudget(len(v.voters())); v.Budget.MinAvailable != n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}
