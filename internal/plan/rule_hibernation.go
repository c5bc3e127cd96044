package plan

import (
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

// wake decides that the members start again: somebody has asked for it, or there is one left whose data would end with its pod, because somebody
// has deleted its claim since, or it never was on a volume.
func wake(v *view) Action {
	alive := func(p Pod) bool { return !p.Deleting && (!p.Persistent || !v.usable(v.volumes[p.Name])) }
	if v.Cluster.Hibernate && !slices.ContainsFunc(v.Pods, alive) {
		return nil
	}
	return CommitHibernation{Hibernation: Waking}
}

// stopMembers deletes the members' pods, one after the other: that goes fast enough, and whoever leads can hand over.
func stopMembers(v *view) Action {
	for _, p := range v.Pods {
		if !p.Deleting {
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonHibernating}
		}
	}
	return nil
}

// stayHibernated reports that the members are stopped, or are about to be.
func stayHibernated(v *view) Action {
	var stopping []string
	for _, p := range v.Pods {
		if !v.strandedPod(p) {
			stopping = append(stopping, p.Name)
		}
	}
	if len(stopping) > 0 {
		return Wait{Reason: v1beta2.ReasonHibernating, After: pollSlow, Message: "waiting until the pods are gone: " + list(stopping)}
	}
	return Idle{
		Reason:  v1beta2.ReasonHibernated,
		Message: fmt.Sprintf("all members are stopped, and their data is on volumes %s: set spec.hibernate to false to start them", list(v.Cluster.Voters)),
	}
}
