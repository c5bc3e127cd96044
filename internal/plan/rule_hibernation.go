package plan

import (
	"cmp"
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// hibernate decides to stop all members, once nothing else is left to do that their data depends on.
func hibernate(v *view) Action {
	if !v.Cluster.Hibernate || !v.maySleep() {
		return nil
	}
	return CommitHibernation{Hibernation: Hibernated, Members: VotersOf(v.Etcd.Members)}
}

// hibernateAgain stops the members of a cluster that wakes up, if they are not to run after all. Before a quorum answers the membership does not
// change; only a snapshot may be under way, of the one member that is left, and that is waited for.
func hibernateAgain(v *view) Action {
	if !v.Cluster.Hibernate || v.Cluster.Hibernation != Waking || v.Etcd.Contact == ContactQuorum ||
		v.Cluster.BackingUp != "" || v.wakesFor() || len(v.withoutVolume()) > 0 {
		return nil
	}
	return CommitHibernation{Hibernation: Hibernated, Members: v.Cluster.Voters}
}

// wake decides that the members start again: somebody has asked for it, or there is one left whose data would end with its pod. Those that are
// still stopping are waited for: what they answer is not the answer of a cluster that runs.
func wake(v *view) Action {
	if v.Cluster.Hibernate && !v.wakesFor() {
		return nil
	}
	var stopping []string
	for _, p := range v.Pods {
		if p.Deleting && !v.overdue(p) {
			stopping = append(stopping, p.Name)
		}
	}
	if len(stopping) > 0 {
		return Wait{Reason: v1beta2.ReasonHibernating, After: pollSlow, Message: "the members start again once these pods are gone: " + list(stopping)}
	}
	return CommitHibernation{Hibernation: Waking}
}

// wakesFor reports whether a pod is left with which a member's data would end, because somebody has deleted its claim since, or it never was on
// a volume.
func (v *view) wakesFor() bool {
	return slices.ContainsFunc(v.Pods, func(p Pod) bool { return !p.Deleting && (!p.Persistent || !v.usable(v.volumes[p.Name])) })
}

// withoutVolume are the voters whose claims are gone, or about to go.
func (v *view) withoutVolume() []string {
	return slices.DeleteFunc(slices.Clone(v.Cluster.Voters), func(name string) bool { return v.usable(v.volumes[name]) })
}

// stopMembers deletes the members' pods, one after the other: that goes fast enough, and whoever leads can hand over.
func stopMembers(v *view) Action {
	var all []Action
	for _, p := range v.Pods {
		if !p.Deleting {
			all = append(all, DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonHibernating})
		}
	}
	return v.firstAllowed(all)
}

// stayHibernated reports that the members are stopped, or are about to be. On a node that does not report etcd may still run.
func stayHibernated(v *view) Action {
	var stopping, unheard []string
	for _, p := range v.Pods {
		if stopping = append(stopping, p.Name); v.overdue(p) {
			unheard = append(unheard, cmp.Or(p.Node, "of "+p.Name))
		}
	}
	if len(stopping) == 0 {
		return v.asleep()
	}
	message := "waiting until the pods are gone: " + list(stopping)
	if len(unheard) > 0 {
		slices.Sort(unheard)
		message += fmt.Sprintf("; etcd may still run there, as node %s does not report: once it is off for certain, delete the Node, "+
			"or give it the taint node.kubernetes.io/out-of-service", list(slices.Compact(unheard)))
	}
	return Wait{Reason: v1beta2.ReasonHibernating, After: pollSlow, Message: message}
}

// asleep reports that the members are stopped, and where their data is: somebody may have deleted claims since, or made others of them. What can be
// done then depends on what is found once the cluster wakes up.
func (v *view) asleep() Action {
	gone := v.withoutVolume()
	kept := slices.DeleteFunc(slices.Clone(v.Cluster.Voters), func(name string) bool { return slices.Contains(gone, name) })
	message := "all members are stopped, and their data is on volumes " + list(kept)
	if len(gone) > 0 {
		message += fmt.Sprintf("; those of %s are deleted, about to be, or not provably the cluster's", list(gone))
	}
	if len(kept) < Quorum(len(v.Cluster.Voters)) {
		return Blocked{Reason: v1beta2.ReasonDataLost, Message: message + ": that is no quorum. Keep whatever is there; once spec.hibernate is false, it is said " +
			"what can be recovered"}
	}
	return Idle{Reason: v1beta2.ReasonHibernated, Message: message + ": set spec.hibernate to false to start them"}
}
