package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Hibernation is how far a cluster is with spec.hibernate. It is recorded before the first member is stopped, so that nobody takes members
// that are gone for lost.
type Hibernation string

const (
	// Awake is a cluster whose members run.
	Awake Hibernation = ""
	// Hibernated is one whose members are stopped, or being stopped; each keeps its volume.
	Hibernated Hibernation = "Hibernated"
	// Waking is one whose members start again, until a quorum answers.
	Waking Hibernation = "Waking"
)

// next is how far it is after a pass with that observation.
func (h Hibernation) next(o Observed) Hibernation {
	if h == Waking && o.Etcd.Contact == ContactQuorum {
		return Awake
	}
	return h
}

// maySleep reports whether all members can be stopped without anything being lost, or left in the middle: all voters are healthy and in sync,
// nothing is under way or due, and each of them keeps its data on a volume of its own.
func (v *view) maySleep() bool {
	if !v.calm() || v.Cluster.BackingUp != "" || v.Cluster.Quarantined.Member != 0 || v.keepsAll() {
		return false // who starts first among members whose data differs may keep the others from starting
	}
	for _, m := range v.voters {
		c := v.volumes[m.Name]
		if !v.pods[m.Name].Persistent || !v.usable(c) || c.MemberID != m.ID {
			return false
		}
	}
	return true
}

func (a CommitHibernation) describe() Description {
	if a.Hibernation == Waking {
		return Description{"CommitHibernation", v1beta2.ReasonWaking, waking + ": its members start again on their volumes"}
	}
	return Description{"CommitHibernation", v1beta2.ReasonHibernating, fmt.Sprintf("spec.hibernate is true: stopping %s; their volumes stay", list(a.Members))}
}

// waking is what is said of a cluster that wakes up.
const waking = "the cluster wakes up"
