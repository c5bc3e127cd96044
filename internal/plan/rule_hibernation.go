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

// asleep reports that the members are stopped, and where their data is: somebody may have deleted claims since.
func (v *view) asleep() Action {
	voters, gone := v.Cluster.Voters, v.withoutVolume()
	kept := slices.DeleteFunc(slices.Clone(voters), func(name string) bool { return slices.Contains(gone, name) })
	switch {
	case len(kept) < Quorum(len(voters)):
		return Blocked{
			Reason: v1beta2.ReasonDataLost,
			Message: fmt.Sprintf("all members are stopped, and the volumes of %s are gone since: %d of %d voters cannot form a quorum. "+
				"Create an EtcdRestore, which first saves what is left", list(gone), len(kept), len(voters)),
		}
	case len(gone) > 0:
		return Idle{
			Reason: v1beta2.ReasonHibernated,
			Message: fmt.Sprintf("all members are stopped, and their data is on volumes %s; those of %s are gone since, and these members are made anew "+
				"once the others run: set spec.hibernate to false to start them", list(kept), list(gone)),
		}
	}
	return Idle{
		Reason:  v1beta2.ReasonHibernated,
		Message: fmt.Sprintf("all members are stopped, and their data is on volumes %s: set spec.hibernate to false to start them", list(voters)),
	}
}
