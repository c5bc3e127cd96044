package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// protectForeignVolumes lets nobody's claim be deleted but the cluster's own.
func protectForeignVolumes(v *view, a Action) Action {
	act, ok := a.(DeleteVolume)
	if !ok || slices.ContainsFunc(slices.Concat(v.Observed.Volumes, v.previousVolumes, v.canceledVolumes), act.is) {
		return nil
	}
	return Blocked{
		Reason:  v1beta2.ReasonForeignVolume,
		Message: "claim " + act.Name + " is not provably this cluster's: it is not deleted",
	}
}

// is tells whether this is the volume to delete, and the cluster's own.
func (a DeleteVolume) is(c Volume) bool {
	return c.Name == a.Name && c.UID == a.UID && c.Foreign == "" && c.Owned
}

// requireConfirmedMembers lets nothing go before a quorum says who the members are: without a list of its own nobody knows whose a pod or a
// volume is. A pod that has ended is of no use to anybody, and an attempt at a restore that was given up never had a member:
// status says which incarnations those are.
func requireConfirmedMembers(v *view, a Action) Action {
	if v.Etcd.Contact == ContactQuorum {
		return nil
	}
	useless := false
	switch act := a.(type) {
	case RemoveMember:
	case DeletePod:
		useless = v.pods[act.Name].Phase == Finished ||
			slices.ContainsFunc(v.canceledPods, func(p Pod) bool { return p.UID == act.UID })
	case DeleteVolume:
		useless = slices.ContainsFunc(v.canceledVolumes, act.is)
	default:
		return nil
	}
	if useless {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonQuorumLost, After: pollSlow,
		Message: "nothing is removed or deleted before a majority of the voters confirms who the members are",
	}
}

// requireQuorum lets no voter go, or stop, that the quorum needs.
func requireQuorum(v *view, a Action) Action {
	victim, safe := v.disruptedVoter(a)
	if victim.ID == 0 || safe {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonQuorumAtRisk, After: pollSlow,
		Message: fmt.Sprintf("taking %s away would cost the quorum: only %d of %d voters are healthy",
			victim.Name, v.healthyVoters(""), len(v.voters)),
	}
}

// blockEvictions lets none go, or stop, while an eviction may take another one.
func blockEvictions(v *view, a Action) Action {
	if victim, _ := v.disruptedVoter(a); victim.ID == 0 {
		return nil
	}
	if raise := v.raiseBudgetTo(len(v.voters)); raise != nil {
		return raise
	}
	if !v.Budget.Settled {
		return Wait{
			Reason: v1beta2.ReasonWaitingForBudget, After: pollFast,
			Message: "waiting until the closed PodDisruptionBudget is in force and no eviction is in flight",
		}
	}
	return nil
}

// disruptedVoter is the voter that an action takes away or stops, the zero Member if there is none, and whether the others can do
// without it.
func (v *view) disruptedVoter(a Action) (victim Member, safe bool) {
	switch act := a.(type) {
	case RemoveMember:
		victim = v.members[act.Name]
		safe = v.safeToRemove(victim)
	case SetImage:
		victim = v.members[act.Name]
		safe = v.safeToRestart(victim)
	case Recreate:
		victim = v.members[act.Name]
		safe = v.safeToRestart(victim)
	case DeletePod:
		if v.pods[act.Name].Phase != Running {
			return Member{}, true
		}
		victim = v.members[act.Name]
		safe = v.safeToRestart(victim)
	default:
	}
	if victim.Learner {
		return Member{}, true
	}
	return victim, safe
}

// raiseBudgetFirst lets nobody become a voter while evictions are only held back for one voter fewer: the loss of the new one and an
// eviction could take the quorum.
func raiseBudgetFirst(v *view, a Action) Action {
	if _, ok := a.(Promote); !ok {
		return nil
	}
	return v.raiseBudgetTo(MinAvailable(len(v.voters) + 1))
}

// commitVotersFirst has a change of the voters written to status before it is made. Of an odd number every majority after a change
// has one before it in it, if status names those before it: the note of an earlier change may have failed. Of an even number
// only those who are left, or who are there then, can tell that it was made.
func commitVotersFirst(v *view, a Action) Action {
	voters := votersOf(v.Etcd.Members)
	if len(voters)%2 == 1 && SameNames(voters, v.Cluster.Voters) {
		return nil
	}
	var next []string
	switch act := a.(type) {
	case Promote:
		next = slices.Concat(voters, []string{act.Name})
	case RemoveMember:
		if v.members[act.Name].Learner {
			return nil
		}
		next = slices.DeleteFunc(voters, func(name string) bool { return name == act.Name })
	default:
		return nil
	}
	slices.SortFunc(next, CompareNames)
	if SameNames(next, v.Cluster.NextVoters) {
		return nil
	}
	return CommitVoters{Voters: next}
}

// protectKeptVolumes lets nothing be deleted that is kept, or that will be: as long as a restore is under way that is all that etcd was ever
// let start on.
func protectKeptVolumes(v *view, a Action) Action {
	act, ok := a.(DeleteVolume)
	if !ok {
		return nil
	}
	data := slices.Clone(v.keptVolumes)
	if b := v.Cluster.Bootstrap; v.Cluster.ID == 0 && b != nil && b.Restore != "" {
		for _, c := range slices.Concat(v.Volumes, v.previousVolumes, v.canceledVolumes) {
			if c.MemberID != 0 {
				data = append(data, c)
			}
		}
	}
	if !slices.ContainsFunc(data, func(c Volume) bool { return c.UID == act.UID }) {
		return nil
	}
	return Blocked{
		Reason:  v1beta2.ReasonRestored,
		Message: "claim " + act.Name + " holds what a restore has replaced, or begun: the operator does not delete it",
	}
}
