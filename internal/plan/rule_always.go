package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func deleting(v *view) Action {
	if !v.Cluster.Deleting {
		return nil
	}
	return Idle{Reason: v1beta2.ReasonTerminating, Message: "the cluster is being deleted"}
}

func paused(v *view) Action {
	if !v.Cluster.Paused {
		return nil
	}
	return Idle{Reason: v1beta2.ReasonPaused, Message: "reconciliation is paused: set spec.paused to false to resume it"}
}

func nameTaken(v *view) Action { return v.NameTaken }

// nameConflict returns what to do about an object of another owner that has a name this cluster requires, or nil.
func (v *view) nameConflict() Action {
	i := slices.IndexFunc(v.Conflicts, v.needsName)
	if i < 0 {
		return nil
	}
	c := v.Conflicts[i]
	if c.Terminating {
		return Wait{
			Reason: v1beta2.ReasonWaitingForPrevious, After: pollSlow,
			Message: fmt.Sprintf("waiting until %s %s of the deleted cluster of this name no longer exists", c.Kind, c.Name),
		}
	}
	return Blocked{
		Reason: v1beta2.ReasonNameTaken,
		Message: fmt.Sprintf("%s %s belongs to %s: delete it or give this cluster another name",
			c.Kind, c.Name, c.Owner),
	}
}

// clusterIDMismatch enforces S6. Pods of an abandoned incarnation are not in v.Pods: they may answer with its ID until they are
// gone.
func clusterIDMismatch(v *view) Action {
	expected := v.Cluster.ExpectedID()
	if expected == 0 {
		return nil
	}
	for _, p := range v.Pods {
		a, ok := v.answers[p.Name]
		if ok && a.ClusterID != 0 && a.ClusterID != expected {
			return Blocked{
				Reason: v1beta2.ReasonClusterIDMismatch,
				Message: fmt.Sprintf("pod %s answers with cluster ID %016x instead of %016x: nothing is changed; "+
					"find out where its data comes from, save it if it may be needed or was restored onto the volume by hand "+
					"(use an EtcdRestore to restore data), then delete the pod and its volume",
					p.Name, a.ClusterID, expected),
			}
		}
	}
	return nil
}

func revisionRegressed(v *view) Action {
	if v.Etcd.RevisionCeiling == 0 || v.Etcd.RevisionCeiling >= v.Cluster.Revision {
		return nil
	}
	return Blocked{
		Reason: v1beta2.ReasonRevisionRegressed,
		Message: fmt.Sprintf("the quorum is at revision %d but was at %d or higher before: data was lost or rolled back outside the "+
			"operator, which neither repairs nor updates the cluster; stop clients from writing, find out what was rolled back, then "+
			"create an EtcdRestore of a backup at revision %d or higher", v.Etcd.RevisionCeiling, v.Cluster.Revision, v.Cluster.Revision),
	}
}
