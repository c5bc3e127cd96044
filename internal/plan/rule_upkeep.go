package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// makeRoom has etcd take writes again where a database has reached its quota. It precedes scaleDown: writes before size.
func makeRoom(v *view) Action { return v.upkeep(v.Room) }

// defragment gives a member's free pages back to the disk.
func defragment(v *view) Action { return v.upkeep(v.Tidying) }

// upkeep takes a step. A member that is to be defragmented first hands over leadership and leaves the client Service, unless the others are
// no quorum without it: then its clients have nowhere to go.
func (v *view) upkeep(u Upkeep) Action {
	m := u.Member
	if m.ID == 0 || m.Learner || len(v.voters) <= alone {
		return u.Step
	}
	if m.ID == v.Leader {
		if to := v.nextLeader(m); to.ID != 0 {
			return MoveLeader{From: m.ID, To: to.ID, FromName: m.Name, ToName: to.Name}
		}
	}
	if a := v.removeFromService(m); a != nil {
		return a
	}
	return u.Step
}

// triedToday says which member is not defragmented because that has failed less than a day ago: the event that says so is gone after an hour.
func (v *view) triedToday() Upkeep {
	for _, m := range v.voters {
		a, _ := v.answer(m)
		last := v.database(m).Last
		if last == nil || !last.Failed || !a.fragmented(v.Cluster.quota(a)) {
			continue
		}
		return v.held(FeatureDefragment, v1beta2.ReasonDefragmentationHeld, fmt.Sprintf("defragmenting %s has failed: look at its log (kubectl logs %s "+
			"-c etcd); it is tried again after a day, or do it by hand (kubectl etcd defrag)", m.Name, m.Name))
	}
	return Upkeep{}
}

// awaitDefragmented waits for the member that is being defragmented.
func (v *view) awaitDefragmented() Action {
	return Wait{
		Reason: v1beta2.ReasonDefragmenting, After: pollDefragmented,
		Message: "member " + v.Defragmented.Name + " is being defragmented, and serves nobody until that is done: nothing else is disrupted",
	}
}
