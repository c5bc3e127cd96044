package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// scaleDown deletes surplus candidates, and then removes surplus members. A voter leaves the client Service first.
func scaleDown(v *view) Action {
	if p, ok := v.nextCandidateToDelete(); ok && v.surplus(len(v.Candidates)) {
		return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonScaling}
	}
	victim := v.NextToRemove
	if victim.ID == 0 {
		return nil
	}
	if !victim.Learner && victim.ID == v.Leader {
		to := v.nextLeader(victim)
		if to.ID == 0 {
			return nil
		}
		return MoveLeader{From: victim.ID, To: to.ID, FromName: victim.Name, ToName: to.Name}
	}
	if v.healthy(victim) && v.safeToRemove(victim) {
		if a := v.removeFromService(victim); a != nil {
			return a
		}
	}
	why := v1beta2.ReasonScaling
	if victim.ID == v.Quarantined.ID {
		why = v1beta2.ReasonDivergedMember
	}
	if victim.ID == v.Relocated.ID && v.successorVotes() {
		why = v1beta2.ReasonRelocating
	}
	return RemoveMember{ID: victim.ID, Name: victim.Name, Why: why}
}

// drainTime is how long a member continues to run after its pod has left the client Service. Until kube-proxy on every node has
// noticed, a client whose connection closes may be routed back to it, and gRPC waits a second before the next attempt.
const drainTime = 300 * time.Millisecond

// removeFromService removes a voter that is about to stop from the client Service; nil once that has taken effect. Evictions are blocked
// before: else another voter could be evicted meanwhile, and clients would be disconnected in vain if the API server refuses that.
func (v *view) removeFromService(m Member) Action {
	p := v.pods[m.Name]
	since := v.Now.Sub(p.LeftService) // negative if the clock was set back
	switch {
	case m.Learner:
		return nil
	case p.InService:
		if a := v.raiseBudgetTo(len(v.voters)); a != nil {
			return a
		}
		return RemoveFromService{Pod: p.Name, UID: p.UID}
	case since >= 0 && since < drainTime:
		return Wait{
			Reason: v1beta2.ReasonWaitingForClients, After: pollFast,
			Message: "waiting for clients to stop connecting to " + m.Name,
		}
	}
	return nil
}

// aboutToStop reports whether the member is the next one to be removed, restarted or defragmented.
func (v *view) aboutToStop(m Member) bool {
	if m.ID == v.Room.Member.ID || m.ID == v.Tidying.Member.ID {
		return true
	}
	if v.NextToRemove.ID != 0 {
		return m.ID == v.NextToRemove.ID
	}
	return m.ID == v.Update.Next.ID
}

// surplus reports whether there are more members than needed, with so many candidates, not counting a replacement that does not vote yet.
func (v *view) surplus(candidates int) bool {
	n := len(v.Etcd.Members) + candidates - v.TargetSize
	takesPlace := n == 1 && candidates+len(v.learners) > 0 && v.replacing() && !v.failedToReplace()
	return n > 0 && !takesPlace
}

// failedToReplace reports whether nobody is to be replaced but learners that are not healthy: what they were to bring was rolled back. While it is
// disputed whose data is right they stay.
func (v *view) failedToReplace() bool {
	return !v.disputed() && !slices.ContainsFunc(v.Etcd.Members, func(m Member) bool { return v.change(m) == ChangeReplace && (!m.Learner || v.healthy(m)) })
}

// nextCandidateToDelete returns the last candidate that the API server does not refuse to delete.
func (v *view) nextCandidateToDelete() (Pod, bool) {
	for _, p := range slices.Backward(v.Candidates) {
		if !v.refuses(TargetOf(DeletePod{Name: p.Name})) {
			return p, true
		}
	}
	return Pod{}, false
}

// nextToRemove returns the member to remove next, the zero Member if there is none. Candidates, which are not members yet,
// are deleted first; where the API server refuses that, surplus members go all the same.
func (v *view) nextToRemove() Member {
	if _, deletable := v.nextCandidateToDelete(); deletable || !v.surplus(0) {
		return Member{}
	}
	victim := v.leastNeeded()
	if !victim.Learner && v.budgetRefused() || v.mayRecover(victim) || v.awaitsOthers(victim) || v.stays(victim) {
		return Member{}
	}
	return victim
}

// stays reports whether the member does not go because it is not known whose data is right. A learner has its data from the leader; who is quarantined
// was proven wrong, and goes unless others differ, too.
func (v *view) stays(m Member) bool {
	return v.disputed() || v.Doubt.Suspect != 0 && !m.Learner && m.ID != v.Quarantined.ID
}

// leastNeeded returns the member to remove: learners first, then one whose data is wrong, then one that tries a release, then members that have to be
// replaced, do not answer or soon will not, or have been far behind for a while; then one that was to take the place of another that stays; then those in the most
// crowded zone and node; and last, those that do not lead and have the highest ordinal.
func (v *view) leastNeeded() Member {
	zones, nodes := map[string]int{}, map[string]int{}
	for _, m := range v.Etcd.Members {
		zones[v.pods[m.Name].Zone]++
		nodes[v.pods[m.Name].Node]++
	}
	rank := func(m Member) []int {
		p := v.pods[m.Name]
		replaced := v.change(m) == ChangeReplace && (m.ID != v.Relocated.ID || v.dispensable(m))
		return []int{
			toInt(m.Learner), toInt(m.ID == v.Quarantined.ID), toInt(v.tried(m)), toInt(replaced), toInt(!v.healthy(m)), toInt(v.aboutToFail(m)), toInt(v.farBehind(m)),
			toInt(replaced && m.ID == v.Relocated.ID), // else its successor would take another one's place
			toInt(replaced && m.ID != v.Leader),       // all of those go, so that the leader need not move twice
			toInt(v.isSuccessor(m) && v.Relocated.ID == 0),
			zones[p.Zone], nodes[p.Node], toInt(m.ID != v.Leader), ordinal(m.Name),
		}
	}
	return slices.MaxFunc(v.Etcd.Members, func(a, b Member) int {
		return cmp.Or(slices.Compare(rank(a), rank(b)), strings.Compare(a.Name, b.Name))
	})
}

// aboutToFail reports whether a member that still answers will not for long: its volume is being deleted or lost, or its node
// does not report, in which case Kubernetes sets its pod to not Ready.
func (v *view) aboutToFail(m Member) bool {
	c := v.volumes[m.Name]
	return c.Deleting || c.Lost || !v.pods[m.Name].Ready
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nextLeader returns the healthy voter to hand leadership to, the zero Member if there is none: preferably one whose data nobody suspects, that tries no release, that is already up
// to date, so that it need not hand over again, and then the one with the longest log.
func (v *view) nextLeader(leader Member) Member {
	var best Member
	rank := func(m Member) []uint64 {
		a, _ := v.answer(m)
		return []uint64{uint64(toInt(m.ID != v.Doubt.Suspect)), uint64(toInt(!v.tried(m))), uint64(toInt(v.change(m) == ChangeNone)), a.Applied} //nolint:gosec // 0 or 1
	}
	for _, m := range v.voters {
		if m.ID != leader.ID && m.ID != v.Quarantined.ID && v.healthy(m) && (best.ID == 0 || slices.Compare(rank(m), rank(best)) > 0) {
			best = m
		}
	}
	return best
}
