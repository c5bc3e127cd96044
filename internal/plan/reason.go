package plan

import (
	"maps"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// DescribeIn is Describe with the reason that the action has where it was decided: to remove a pod from the client Service, for
// one, serves scaling, an update, and a restore.
func DescribeIn(o Observed, known Assessment, a Action) Description {
	d := Describe(a)
	d.Reason = reasonIn(o, known, a, d.Reason)
	return d
}

func reasonIn(o Observed, known Assessment, a Action, byDefault string) string {
	starting := o.Cluster.ID == 0
	restoring := starting && o.Cluster.Bootstrap != nil && o.Cluster.Bootstrap.Restore != ""
	switch {
	case byDefault != v1beta2.ReasonScaling && byDefault != v1beta2.ReasonBootstrapping:
		return byDefault
	case restoring:
		return v1beta2.ReasonRestoring
	case starting:
		return v1beta2.ReasonBootstrapping
	case byDefault == v1beta2.ReasonScaling && known.defragments(a):
		return v1beta2.ReasonDefragmenting
	case byDefault == v1beta2.ReasonScaling && known.quarantines(a):
		return v1beta2.ReasonDivergedMember
	case byDefault == v1beta2.ReasonScaling && known.updates(a):
		return v1beta2.ReasonUpdating
	}
	return byDefault
}

// defragments reports whether a change of who serves and leads prepares for a defragmentation.
func (known Assessment) defragments(a Action) bool {
	for _, m := range []Member{known.Room.Member, known.Tidying.Member} {
		switch act := a.(type) {
		case RemoveFromService:
			if m.Name == act.Pod {
				return true
			}
		case MoveLeader:
			if m.ID == act.From {
				return true
			}
		default:
		}
	}
	return false
}

// quarantines reports whether a change of the membership, or of who serves and leads, is a step of the replacement of a member whose data
// is wrong.
func (known Assessment) quarantines(a Action) bool {
	m := known.Quarantined
	switch act := a.(type) {
	case RemoveFromService:
		return m.ID != 0 && m.Name == act.Pod
	case MoveLeader:
		return m.ID != 0 && m.ID == act.From
	case AddLearner, Promote, CommitVoters:
		return m.ID != 0
	default:
		return false
	}
}

// updates reports whether a change of the membership, or of who serves and leads, is a step of an update.
func (known Assessment) updates(a Action) bool {
	switch act := a.(type) {
	case RemoveFromService:
		return known.updatesMember(func(m Member) bool { return m.Name == act.Pod })
	case MoveLeader:
		return known.updatesMember(func(m Member) bool { return m.ID == act.From })
	case RemoveMember:
		return known.Changes[act.Name] == ChangeReplace
	case AddLearner, Promote, CommitVoters:
		return slices.Contains(slices.Collect(maps.Values(known.Changes)), ChangeReplace)
	default:
		return false
	}
}

// updatesMember reports whether the member is about to be replaced or restarted for an update.
func (known Assessment) updatesMember(is func(Member) bool) bool {
	if next := known.NextToRemove; next.ID != 0 {
		return is(next) && known.Changes[next.Name] == ChangeReplace
	}
	return known.Update.Next.ID != 0 && is(known.Update.Next)
}
