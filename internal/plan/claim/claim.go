// Package claim decides which operator acts on an object, where there are several. It is the one that the object's status
// names by its Lease, that of its leader election. Another operator takes its place once it is gone.
package claim

import (
	"fmt"
	"strings"
	"time"
)

// TakeOverAfter is how long this operator must not have seen another one's Lease held and renewed, by its own clock, before it takes
// that one's place. An operator that cannot renew its Lease changes nothing after 12 s, long before that. The clocks of two machines
// are never compared.
const TakeOverAfter = time.Minute

// Operator names an operator by its Lease. The zero value is nobody: an object that nobody claims, or an operator without
// leader election, which has no Lease.
type Operator struct {
	Namespace, Lease string
	// UID is that of the Lease, empty if it is not known. Whoever may create namespaces can take up the name of one that is
	// gone, and have a Lease of that name in it, but not of that UID.
	UID string
}

// String is for people.
func (o Operator) String() string {
	if o == (Operator{}) {
		return "nobody"
	}
	return o.Namespace + "/" + o.Lease
}

// Name is the operator without the UID.
func (o Operator) Name() Operator { return Operator{Namespace: o.Namespace, Lease: o.Lease} }

// Decision is how an operator stands to an object. The set is closed.
type Decision interface{ decision() }

// Act means that this operator may act on the object.
type Act struct{}

// TakeOver means that this operator may write its claim to the object's status, on the condition that nobody has written to it
// meanwhile, and do nothing else in that pass. From is whose place it takes, zero if nobody claims the object.
type TakeOver struct{ From Operator }

// StandBack means that nothing must be written to the object.
type StandBack struct {
	// Other is who claims it.
	Other Operator
	// Known is true once the other operator was seen to renew its Lease, or if that may not be read. Until then it may turn out
	// within TakeOverAfter that it is gone, and nobody need be told.
	Known bool
	// Why says how it is, and what it takes to have this operator act.
	Why string
}

func (Act) decision()       {}
func (TakeOver) decision()  {}
func (StandBack) decision() {}

// Mutates reports whether the decision changes anything: such a decision is made a second time, on live reads.
func Mutates(d Decision) bool {
	_, ok := d.(TakeOver)
	return ok
}

// Acts reports whether the decision is to act.
func Acts(d Decision) bool {
	_, ok := d.(Act)
	return ok
}

// Foreign reports whether another owner than this operator claims an object, so that its Lease must be looked at.
func Foreign(self, claimant Operator) bool {
	return claimant != Operator{} && claimant.Name() != self.Name()
}

// Decide decides about an object that claimant claims, or nobody if that is zero. What is known of that one's Lease, the one
// with the UID of the claim, matters only if it is Foreign. A claim of this operator's own by another UID, or by none, is
// written anew: it is of an earlier process, which has ended. As long as the UID of this operator's Lease is not known, nobody
// knows whose a claim by a UID is.
func Decide(self, claimant Operator, lease Lease) Decision {
	switch {
	case claimant == Operator{}:
		return take(self, claimant)
	case !Foreign(self, claimant) && claimant.UID == self.UID:
		return Act{}
	case !Foreign(self, claimant) && self.UID == "":
		return StandBack{Other: claimant, Why: unsure(self)}
	case !Foreign(self, claimant):
		return take(self, claimant)
	case lease.forbidden:
		return StandBack{Other: claimant, Known: true, Why: unknown(self, claimant)}
	case lease.Still() >= TakeOverAfter:
		return take(self, claimant)
	default:
		return StandBack{Other: claimant, Known: lease.renewed, Why: alive(self, claimant)}
	}
}

// take is for an object that is free. An operator without a Lease acts, and claims nothing: nobody could tell when it is gone.
func take(self, from Operator) Decision {
	if self == (Operator{}) {
		return Act{}
	}
	return TakeOver{From: from}
}

func unsure(self Operator) string {
	return fmt.Sprintf("an operator that has a Lease %s acts on this object, and %s has not found out yet whether it is that Lease",
		self, this(self))
}

func unknown(self, other Operator) string {
	return fmt.Sprintf("%s acts on this object, and %s may not read that Lease (get on leases in namespace %s), so that it cannot "+
		"tell whether that one is still there. If it is not", with(other), this(self), other.Namespace)
}

func alive(self, other Operator) string {
	return fmt.Sprintf("%s acts on this object, and %s leaves it alone. Run only one of them. To remove the other one, "+
		"delete its Deployment (from OLM: its Subscription and ClusterServiceVersion), never by make undeploy or kubectl delete -f, "+
		"which delete every EtcdCluster; or exclude this namespace from it (WATCH_NAMESPACE). If the other one stays but no longer "+
		"watches this namespace", with(other), this(self))
}

func with(o Operator) string { return "the operator that has the Lease " + o.String() }

func this(self Operator) string {
	if self == (Operator{}) {
		return "this one, which has no Lease (it runs without --leader-elect),"
	}
	return "this one, which has " + self.String() + ","
}

// Release is the command that frees an object by hand.
func Release(kind, namespace, name string) string {
	return fmt.Sprintf(`kubectl patch %s %s -n %s --subresource=status --type=merge -p '{"status":{"operator":null}}'`,
		strings.ToLower(kind), name, namespace)
}
