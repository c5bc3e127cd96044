package plan

import (
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

// awaitDefragmented waits for the member that is being defragmented.
func (v *view) awaitDefragmented() Action {
	return Wait{
		Reason: v1beta2.ReasonDefragmenting, After: pollDefragmented,
		Message: "member " + v.Defragmented.Name + " is being defragmented, and serves nobody until that is done: nothing else is disrupted",
	}
}
