package plan

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// markQuarantined has the claim of a quarantined member say so, before that is removed: then it is known without a status whose volume is kept. The
// mark goes once the data is right again.
func markQuarantined(v *view) Action {
	var all []Action
	over := v.agree()
	for _, c := range v.Volumes {
		quarantined := v.Quarantined.ID != 0 && c.MemberID == v.Quarantined.ID
		right := over && v.Etcd.lists(c.MemberID)
		if !c.Deleting && (quarantined && !c.Quarantined || c.Quarantined && right) {
			all = append(all, MarkQuarantined{Name: c.Name, UID: c.UID, Quarantined: quarantined})
		}
	}
	return v.firstAllowed(all)
}

// quarantine begins to replace a member whose data differs from what a majority of the voters agrees on. That is recorded first, so that an
// operator that starts anew goes on with it. Clients are kept away from the member, and so is leadership, because a learner gets its
// data from the leader. The rest is like any replacement (ChangeReplace): a new member joins, and then this one goes. Its volume is kept.
//
// If etcd itself has raised its alarm, it refuses all writes: then the member goes at once, and its alarm is disarmed.
//
// Nobody is removed for it while another voter is not healthy: what brings that one back comes later in the list. Leadership is moved all
// the same. A learner that runs while the member leads may have the wrong data, and goes; the guard learnFromTheRight lets no other one begin.
//
// Where Auto Pilot may not act any more, the member is kept away from clients and leadership all the same, and is not replaced.
func quarantine(v *view) Action {
	if m := v.Diverged; m.ID != 0 {
		q := Quarantined{Member: m.ID, Name: m.Name}
		if c := v.volumes[m.Name]; c.MemberID == m.ID { // its pod may be gone
			q.VolumeUID = c.UID
		}
		return Quarantine{q}
	}
	m, alarm := v.Quarantined, v.alarmOfQuarantined()
	switch {
	case m.ID == 0 && alarm != nil:
		return *alarm
	case m.ID == 0 || m.Learner:
		return nil
	case v.pods[m.Name].InService:
		return RemoveFromService{Pod: m.Name, UID: v.pods[m.Name].UID}
	case m.ID == v.Leader:
		return v.deposeQuarantined()
	}
	if alarm != nil && !v.disputed() && len(v.unhealthyVoters()) == 0 && v.safeToRemove(m) {
		return RemoveMember{ID: m.ID, Name: m.Name, Why: v1beta2.ReasonDivergedMember}
	}
	return nil
}

// deposeQuarantined ends that the member leads whose data is wrong, and removes who may have got that data meanwhile.
func (v *view) deposeQuarantined() Action {
	if fed := v.fed(); fed.ID != 0 {
		return RemoveMember{ID: fed.ID, Name: fed.Name, Why: v1beta2.ReasonDivergedMember}
	}
	m := v.Quarantined
	if to := v.nextLeader(m); to.ID != 0 {
		return MoveLeader{From: m.ID, To: to.ID, FromName: m.Name, ToName: to.Name}
	}
	return nil
}

// fed is a learner that may have got its data from the present leader, the zero Member if there is none.
func (v *view) fed() Member {
	i := slices.IndexFunc(v.learners, func(m Member) bool { return v.pods[m.Name].Permit != nil })
	if i < 0 {
		return Member{}
	}
	return v.learners[i]
}

// alarmOfQuarantined returns what disarms etcd's alarm about the member whose quarantine is recorded, nil if there is no such alarm.
func (v *view) alarmOfQuarantined() *Disarm {
	a := v.Cluster.Quarantined.alarm()
	if a.Member == 0 || v.Cluster.Autopilot.Diverged != ModeOn || !slices.Contains(v.Alarms, a) {
		return nil
	}
	return &Disarm{Alarm: a, Name: v.namesOf([]uint64{a.Member})}
}
