package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// scaleDown takes away what is more than the spec asks for: candidates, then members. Clients leave a voter first.
func scaleDown(v *view) Action {
	if n := len(v.Candidates); n > 0 && v.surplus() {
		p := v.Candidates[n-1]
		return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonScaling}
	}
	victim := v.RemovalCandidate
	if victim.ID == 0 {
		return nil
	}
	if !victim.Learner && victim.ID == v.Leader {
		to := v.nextLeader(victim)
		if to == 0 {
			return nil
		}
		return MoveLeader{From: victim.ID, To: to}
	}
	if v.healthy(victim) && v.safeToRemove(victim) {
		if a := v.removeFromService(victim); a != nil {
			return a
		}
	}
	return RemoveMember{ID: victim.ID, Name: victim.Name, Why: v1beta2.ReasonScaling}
}

// drainTime is how long a member goes on after its pod was taken from the clients' Service: until every node's proxy knows
// that, a client whose connection ends may be led back to it, and gRPC then waits a second before it tries again.
const drainTime = 300 * time.Millisecond

// removeFromService lets no further client reach a voter that is about to stop, nil once that is done.
func (v *view) removeFromService(m Member) Action {
	p := v.pods[m.Name]
	since := v.Now.Sub(p.LeftService) // negative if the clock was set back
	switch {
	case m.Learner:
		return nil
	case p.InService:
		return RemoveFromService{Pod: p.Name, UID: p.UID}
	case since >= 0 && since < drainTime:
		return Wait{
			Reason: v1beta2.ReasonWaitingForClients, After: pollFast,
			Message: "waiting until no further client is led to " + m.Name,
		}
	}
	return nil
}

// aboutToStop tells whether the member is the next to go or to be restarted.
func (v *view) aboutToStop(m Member) bool {
	if v.RemovalCandidate.ID != 0 {
		return m.ID == v.RemovalCandidate.ID
	}
	return m.ID == v.Update.Next.ID
}

// surplus tells whether there is one more than asked for, other than one that is to take another's place and does not vote yet.
func (v *view) surplus() bool {
	n := len(v.Etcd.Members) + len(v.Candidates) - v.TargetSize
	takesPlace := n == 1 && len(v.Candidates)+len(v.learners) > 0 && v.replacing()
	return n > 0 && !takesPlace
}

// removalCandidate is the member to take out next, if there is one too many: candidates go first.
func (v *view) removalCandidate() Member {
	if len(v.Candidates) > 0 || !v.surplus() {
		return Member{}
	}
	return v.leastNeeded()
}

// leastNeeded is the member to let go: learners, then members that have to be replaced, or do not answer or will not for
// long, then from the fullest zone and node, and of equals the one that does not lead and has the highest number.
func (v *view) leastNeeded() Member {
	zones, nodes := map[string]int{}, map[string]int{}
	for _, m := range v.Etcd.Members {
		zones[v.pods[m.Name].Zone]++
		nodes[v.pods[m.Name].Node]++
	}
	rank := func(m Member) []int {
		p := v.pods[m.Name]
		return []int{
			toInt(m.Learner), toInt(v.change(m) == ChangeReplace), toInt(!v.healthy(m)), toInt(v.aboutToFail(m)),
			toInt(v.change(m) == ChangeReplace && m.ID != v.Leader), // all of those go, so that the leader need not move twice
			zones[p.Zone], nodes[p.Node], toInt(m.ID != v.Leader), ordinal(m.Name),
		}
	}
	return slices.MaxFunc(v.Etcd.Members, func(a, b Member) int {
		return cmp.Or(slices.Compare(rank(a), rank(b)), strings.Compare(a.Name, b.Name))
	})
}

// aboutToFail tells whether a member that still answers has no future: its volume is going away, or its node does not report
// (then Kubernetes takes the pod for unready).
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

// nextLeader is the healthy voter to lead next, 0 if there is none but the leader itself: one that is as the spec asks, so that
// it need not hand over in its turn, and of those the one with the longest log.
func (v *view) nextLeader(leader Member) uint64 {
	var best Member
	rank := func(m Member) []uint64 {
		a, _ := v.answer(m)
		return []uint64{uint64(toInt(v.change(m) == ChangeNone)), a.Applied} //nolint:gosec // 0 or 1
	}
	for _, m := range v.voters {
		if m.ID != leader.ID && v.healthy(m) && (best.ID == 0 || slices.Compare(rank(m), rank(best)) > 0) {
			best = m
		}
	}
	return best.ID
}
