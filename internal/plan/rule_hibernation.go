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
	return CommitHibernation{Hibernation: Hibernated, Members: votersOf(v.Etcd.Members)}
}

// hibernateAgain stops the members of a cluster that wakes up, if they are not to run after all: before a quorum answers nothing is begun that
// stopping them could interrupt.
func hibernateAgain(v *view) Action {
	gone := func(name string) bool { return !v.usable(v.volumes[name]) }
	if !v.Cluster.Hibernate || v.Cluster.Hibernation != Waking || v.Etcd.Contact == ContactQuorum ||
		v.wakesFor() || slices.ContainsFunc(v.Cluster.Voters, gone) {
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
		return Idle{
			Reason:  v1beta2.ReasonHibernated,
			Message: fmt.Sprintf("all members are stopped, and their data is on volumes %s: set spec.hibernate to false to start them", list(v.Cluster.Voters)),
		}
	}
	message := "waiting until the pods are gone: " + list(stopping)
	if len(unheard) > 0 {
		slices.Sort(unheard)
		message += fmt.Sprintf("; etcd may still run there, as node %s does not report: once it is off for certain, delete the Node, "+
			"or give it the taint node.kubernetes.io/out-of-service", list(slices.Compact(unheard)))
	}
	return Wait{Reason: v1beta2.ReasonHibernating, After: pollSlow, Message: message}
}
