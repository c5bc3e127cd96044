package member

import "fmt"

// Identity is the member that the data in a directory belongs to.
type Identity struct {
	ClusterID, MemberID ID
}

// String is for messages.
func (i Identity) String() string {
	return fmt.Sprintf("member %s of cluster %s", i.MemberID, i.ClusterID)
}

// Situation is everything that the decision whether etcd may start depends on.
type Situation struct {
	// Data is the member that the existing data belongs to, nil if there is none.
	Data *Identity
	// Permit is the operator's permission.
	Permit *Permit
	// PodUID is this pod, never empty.
	PodUID string
	// Used is the highest attempt that this pod has used up, 0 if none.
	Used int
	// Started is true if another member lists this one as started. Used does not tell that if it was lost with the data, because the disk of the
	// node was replaced below the pod.
	Started bool
}

// Admit returns how etcd may start, or why it may not. It is pure: member-run calls it before every start, and so does the model
// that the planner is explored in.
func Admit(s Situation) (Start, *Refusal) {
	if s.Data != nil {
		return resume(*s.Data, s.Permit)
	}
	const nothing = "this member's data directory has no write-ahead log, and "
	p := s.Permit
	start := Start{State: StateExisting, InitialCluster: p.InitialCluster, Token: p.Token}
	switch p.Mode {
	case ModeNew:
		start.State = StateNew
	case ModeJoin:
	case ModeResume:
		return Start{}, &Refusal{Reason: DataLost, Message: nothing + "the permit needs one"}
	default:
		return Start{}, &Refusal{Reason: BadConfig, Message: fmt.Sprintf("unknown permit mode %q", p.Mode)}
	}
	if p.PodUID != s.PodUID {
		return Start{}, &Refusal{Reason: DataLost, Message: nothing + "the permit is for another pod"}
	}
	if p.Attempt <= s.Used {
		return Start{}, &Refusal{
			Reason: DataLost, Attempt: p.Attempt,
			Message: fmt.Sprintf("%spermit %d of this pod has been used", nothing, p.Attempt),
		}
	}
	if s.Started {
		return Start{}, &Refusal{Reason: DataLost, Message: nothing + "other members list this one as started"}
	}
	return start, nil
}

// resume starts etcd from its data whatever the permit's mode: the start that the permit was for has already happened.
func resume(data Identity, p *Permit) (Start, *Refusal) {
	if permitted := (Identity{p.ClusterID, p.MemberID}); data != permitted {
		return Start{}, &Refusal{
			Reason:  ForeignData,
			Message: fmt.Sprintf("the directory holds the data of %s, the permit is for %s", data, permitted),
		}
	}
	return Start{State: StateExisting}, nil
}
