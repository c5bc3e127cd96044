package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Kinds of objects that a Conflict can be.
const (
	KindPod    = "Pod"
	KindVolume = "PersistentVolumeClaim"
)

// Conflict is an object of another owner that has the cluster's labels or one of its names. It matters only if the cluster
// requires that name (Assessment.NameTaken).
type Conflict struct {
	Kind string
	Name string
	// Owner describes the object's owner, as far as it is known.
	Owner string
	// Terminating is true if the object belongs to a deleted cluster of the same name and is about to go.
	Terminating bool
}

// needsName reports whether the cluster requires the name of another owner's object. Services and the budget have fixed names;
// new members get free ones.
func (v *view) needsName(c Conflict) bool {
	switch {
	case c.Kind != KindPod && c.Kind != KindVolume:
		return true
	case v.Cluster.ID == 0:
		return c.Terminating || slices.Contains(v.initialMembers(), c.Name)
	}
	_, listed := v.members[c.Name]
	return listed || slices.Contains(v.Cluster.Voters, c.Name) || v.usable(v.volumes[c.Name])
}

// heldByOther reports whether an object of another owner has that name.
func (v *view) heldByOther(name string) bool {
	return slices.ContainsFunc(v.Conflicts, func(c Conflict) bool { return c.Name == name })
}

// initialMembers returns the names of the initial members.
func (v *view) initialMembers() []string {
	if b := v.Cluster.Bootstrap; b != nil {
		return b.Members
	}
	return v.plannedBootstrap(1).Members
}

// unrelated reports an object with the cluster's labels that does not belong to it and does no harm, nil if there is none. It
// is left alone, and the cluster is managed as usual.
func (v *view) unrelated() *failure.Problem {
	for _, c := range v.Conflicts {
		if !v.needsName(c) && c.Kind == KindPod {
			return &failure.Problem{Reason: v1beta2.ReasonStrangerPod, Message: fmt.Sprintf(
				"pod %s has this cluster's labels and belongs to %s: it is ignored; delete it, or remove the labels",
				c.Name, c.Owner)}
		}
	}
	if len(v.foreign) > 0 {
		return &failure.Problem{
			Reason: v1beta2.ReasonForeignVolume,
			Message: foreignClaim(v.foreign[0]) + "; it is neither used nor deleted: remove the labels, or delete it once " +
				"its data is no longer needed",
		}
	}
	return nil
}

func foreignClaim(c Volume) string {
	whose := c.Foreign
	if whose == "" {
		whose = "it was created for an earlier cluster of this name"
	}
	return fmt.Sprintf("PersistentVolumeClaim %s has this cluster's labels but is not provably this cluster's: %s", c.Name, whose)
}
