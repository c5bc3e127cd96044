package plan

import (
	"fmt"
	"slices"

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

// guard is the one chokepoint for what the operator does to voters (S1): it vetoes what would cost the quorum, and
// closes the budget first, so that an eviction and our own doing cannot take two voters at once.
//
// It is also where nothing passes that cannot be taken back and is not proven (S2): what a member may have is deleted, and
// members are removed, only on a list that a majority of the voters confirms, and only claims that are the cluster's own.
//
// Before the latch it lets everything pass but the deletion of somebody else's claim: this cluster has no voters yet, and what
// answers may be an attempt that was given up. During a restore the former members are no voters here either. That their data
// stays until there is no way back to it is held by the rules alone: stopFormer, callOff and dropReplaced.
func guard(v *view, a Action) Action {
	if w := v.unproven(a); w != nil {
		return w
	}
	if v.Cluster.ID == 0 {
		return a
	}
	victim, safe := v.victimOf(a)
	if victim.ID == 0 || victim.Learner {
		return v.declare(a)
	}
	if !safe {
		return Wait{
			Reason: v1beta2.ReasonQuorumAtRisk, After: pollSlow,
			Message: fmt.Sprintf("taking %s away would cost the quorum: only %d of %d voters are healthy",
				victim.Name, v.healthyVoters(""), len(v.voters)),
		}
	}
	return v.declare(v.closeBudget(a))
}

// unproven is what to wait for before that is done, nil if it may be: without a list of the quorum's own nobody knows whose
// a pod or a volume is. A pod that has ended is of no use to anybody, and an attempt at a restore that was given up never had
// a member: status says which incarnations those are.
func (v *view) unproven(a Action) Action {
	confirmed := v.Cluster.ID == 0 || v.Etcd.Contact == ContactQuorum
	switch act := a.(type) {
	case RemoveMember:
	case DeletePod:
		confirmed = confirmed || v.pods[act.Name].Phase == Terminal ||
			slices.ContainsFunc(v.triedPods, func(p Pod) bool { return p.UID == act.UID })
	case DeleteVolume:
		tried := slices.ContainsFunc(v.triedVolumes, act.is)
		if confirmed = confirmed || tried; !tried && !slices.ContainsFunc(v.Observed.Volumes, act.is) &&
			!slices.ContainsFunc(v.oldVolumes, act.is) {
			return Blocked{
				Reason:  v1beta2.ReasonForeignVolume,
				Message: "claim " + act.Name + " is not provably this cluster's: it is not deleted",
			}
		}
	default:
		return nil
	}
	if confirmed {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonQuorumLost, After: pollSlow,
		Message: "nothing is removed or deleted before a majority of the voters confirms who the members are",
	}
}

// is tells whether this is the volume to delete, and the cluster's own.
func (a DeleteVolume) is(c Volume) bool {
	return c.Name == a.Name && c.UID == a.UID && c.Foreign == "" && c.Owned
}

// declare has a change of the voters written to status before it is made. Of an odd number every majority after a change
// has one before it in it, if status names those before it: the note of an earlier change may have failed. Of an even number
// only those who are left, or who are there then, can tell that it was made.
func (v *view) declare(a Action) Action {
	voters := votersOf(v.Etcd.Members)
	if len(voters)%2 == 1 && SameNames(voters, v.Cluster.Voters) {
		return a
	}
	var next []string
	switch act := a.(type) {
	case Promote:
		next = slices.Concat(voters, []string{act.Name})
	case RemoveMember:
		if v.members[act.Name].Learner {
			return a
		}
		next = slices.DeleteFunc(voters, func(name string) bool { return name == act.Name })
	default:
		return a
	}
	slices.SortFunc(next, CompareNames)
	if SameNames(next, v.Cluster.NextVoters) {
		return a
	}
	return CommitVoters{Voters: next}
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
	return v.Budget.Exists && v.Budget.MinAvailable > OpenBudget(len(v.voters))
}

func (v *view) closeBudget(a Action) Action {
	if n := len(v.voters); !v.Budget.Exists || v.Budget.MinAvailable < n {
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
func raiseBudget(v *view) Action { return v.budgetFor(len(v.voters)) }

// budgetFor makes sure that an eviction leaves a quorum of that many voters.
func (v *view) budgetFor(voters int) Action {
	if n := OpenBudget(voters); !v.Budget.Exists || v.Budget.MinAvailable < n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}

// openBudget lets others evict again as soon as the operator is done.
func openBudget(v *view) Action {
	if n := OpenBudget(len(v.voters)); v.Budget.MinAvailable != n {
		return SetBudget{MinAvailable: n}
	}
	return nil
}
