package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// protectForeignVolumes allows only the cluster's own claims to be deleted.
func protectForeignVolumes(v *view, a Action) Action {
	act, ok := a.(DeleteVolume)
	if !ok || slices.ContainsFunc(slices.Concat(v.Observed.Volumes, v.previousVolumes, v.abandonedVolumes), act.is) {
		return nil
	}
	return Blocked{
		Reason:  v1beta2.ReasonForeignVolume,
		Message: "PersistentVolumeClaim " + act.Name + " is not provably this cluster's: it is not deleted",
	}
}

// is reports whether this is the volume to delete, and the cluster's own.
func (a DeleteVolume) is(c Volume) bool {
	return c.Name == a.Name && c.UID == a.UID && c.Foreign == "" && c.Owned
}

// requireConfirmedMembers allows nothing to be removed before a quorum confirms the member list: without it, it is unknown
// which pods and volumes belong to members. Exempt are finished pods, and what abandoned attempts have left: no member needs them,
// whoever the members are.
func requireConfirmedMembers(v *view, a Action) Action {
	if v.Etcd.Contact == ContactQuorum {
		return nil
	}
	exempt := false
	switch act := a.(type) {
	case RemoveMember:
	case DeletePod:
		exempt = v.pods[act.Name].Phase == Finished ||
			slices.ContainsFunc(v.abandonedPods, func(p Pod) bool { return p.UID == act.UID })
	case DeleteVolume:
		exempt = slices.ContainsFunc(v.abandonedVolumes, act.is)
	default:
		return nil
	}
	if exempt {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonQuorumLost, After: pollSlow,
		Message: "waiting until a majority of the voters confirms the member list: nothing is removed or deleted before that",
	}
}

// requireQuorum allows no voter to be removed or stopped that the quorum needs.
func requireQuorum(v *view, a Action) Action {
	victim, safe := v.disruptedVoter(a)
	if victim.ID == 0 || safe {
		return nil
	}
	message := fmt.Sprintf("disrupting %s would break the quorum: only %d of %d voters are healthy",
		victim.Name, v.healthyVoters(""), len(v.voters))
	if unhealthy := v.unhealthyVoters(); len(unhealthy) > 0 {
		message += "; not healthy: " + list(unhealthy) + ": bring them back, and the operator goes on by itself"
	}
	return Wait{Reason: v1beta2.ReasonQuorumAtRisk, After: pollSlow, Message: message}
}

// awaitDefragmentation allows no voter to be removed, stopped or defragmented, and none to be given leadership, while a member is being
// defragmented: it serves nobody, and what etcd has begun nobody can call off.
func awaitDefragmentation(v *view, a Action) Action {
	if v.Defragmented.ID == 0 {
		return nil
	}
	victim, _ := v.disruptedVoter(a)
	if move, moves := a.(MoveLeader); victim.ID == 0 && !(moves && move.To == v.Defragmented.ID) {
		return nil
	}
	if _, removes := a.(RemoveMember); removes && victim.ID == v.Quarantined.ID && victim.ID == v.Defragmented.ID {
		return nil // what it says of itself keeps nobody from removing it
	}
	return v.awaitDefragmented()
}

// blockEvictions allows no voter to be removed or stopped while an eviction may take down another one.
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
			Message: "waiting until the PodDisruptionBudget blocks evictions and none is in flight",
		}
	}
	return nil
}

// disruptedVoter returns the voter that an action removes or stops, the zero Member if there is none, and whether the other
// voters remain a healthy quorum.
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
	case Defragment:
		victim = v.members[act.Name]
		safe = v.safeToRestart(victim) || v.pausesOnly(victim)
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

// learnFromTheRight lets nobody get its data from a leader whose data is wrong, or may be: no learner is added, started or promoted while it leads. One
// that is only suspected, by a single comparison or where Auto Pilot advises, hands over leadership first, and who may have its data already goes.
func learnFromTheRight(v *view, a Action) Action {
	if !v.learns(a) {
		return nil
	}
	if v.disputed() {
		return Wait{Reason: v1beta2.ReasonDivergedMemberHeld, After: pollSlow, Message: "nobody joins or gets a vote, because " + v.whyKept()}
	}
	wrong := v.wrongLeader()
	if wrong.ID == 0 {
		return nil
	}
	if fed := v.fed(); fed.ID != 0 {
		return RemoveMember{ID: fed.ID, Name: fed.Name, Why: v1beta2.ReasonDivergedMember}
	}
	if to := v.nextLeader(wrong); to.ID != 0 {
		return MoveLeader{From: wrong.ID, To: to.ID, FromName: wrong.Name, ToName: to.Name}
	}
	return Wait{
		Reason: v1beta2.ReasonDivergedMember, After: pollSlow,
		Message: "waiting until another voter than " + wrong.Name + " can lead: new members would get its data, which differs from the others'",
	}
}

// learns reports whether a learner gets data by the action, or a vote with what it has got.
func (v *view) learns(a Action) bool {
	switch act := a.(type) {
	case AddLearner, Promote:
		return true
	case WritePermits:
		return slices.ContainsFunc(act.Permits, func(p PodPermit) bool { return v.members[p.Pod].Learner })
	default:
		return false
	}
}

// wrongLeader returns the leader if its data is known to differ from what the others agree on, or is suspected to; the zero Member otherwise.
func (v *view) wrongLeader() Member {
	if v.Leader == 0 || v.Leader != v.Quarantined.ID && v.Leader != v.Doubt.Suspect {
		return Member{}
	}
	m, _ := v.memberByID(v.Leader)
	return m
}

// raiseBudgetFirst allows no promotion while the budget is for one voter fewer: the loss of the new voter plus an eviction
// could break the quorum.
func raiseBudgetFirst(v *view, a Action) Action {
	if _, ok := a.(Promote); !ok {
		return nil
	}
	return v.raiseBudgetTo(MinAvailable(len(v.voters) + 1))
}

// commitVotersFirst writes a change of the voters to status before it is made. With an odd number of voters, every majority
// after the change includes one of before it, provided that status names those of before it: recording an earlier change may
// have failed. With an even number, only the voters that remain, or that exist then, can confirm that the change was made.
func commitVotersFirst(v *view, a Action) Action {
	voters := VotersOf(v.Etcd.Members)
	if len(voters)%2 == 1 && sameNames(voters, v.Cluster.Voters) {
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
	if sameNames(next, v.Cluster.NextVoters) {
		return nil
	}
	return CommitVoters{Voters: next}
}

// protectKeptVolumes allows no volume to be deleted that is kept, or will be: during a restore, every volume on which etcd was
// ever permitted to start.
func protectKeptVolumes(v *view, a Action) Action {
	act, ok := a.(DeleteVolume)
	if !ok {
		return nil
	}
	data := slices.Clone(v.keptVolumes)
	if b := v.Cluster.Bootstrap; v.Cluster.ID == 0 && b != nil && b.Restore != "" {
		for _, c := range slices.Concat(v.Volumes, v.previousVolumes, v.abandonedVolumes) {
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
		Message: "PersistentVolumeClaim " + act.Name + " holds data that a restore has replaced or restored, or that differed from the other members': the operator does not delete it",
	}
}
