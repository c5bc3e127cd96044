package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// statusOutdated changes nothing while status is of before the first start was over, and the members are of after it: somebody has put status back, as
// a restored backup of the object does. By such a status nobody can have data yet. Without any status the members are adopted, so the user is to remove it.
func statusOutdated(v *view) Action {
	if v.Cluster.ID != 0 || v.Cluster.Bootstrap == nil {
		return nil
	}
	for _, p := range v.Pods {
		if p.Permit != nil && !v.mayHaveStarted(p.Name, p.Permit.ClusterID, p.Permit.MemberID) {
			return v.outdatedBlocked("pod "+p.Name, p.Permit.ClusterID)
		}
	}
	for _, c := range v.Volumes {
		if c.MemberID != 0 && !v.mayHaveStarted(c.Name, member.ID(c.ClusterID), member.ID(c.MemberID)) {
			return v.outdatedBlocked("volume "+c.Name, member.ID(c.ClusterID))
		}
	}
	return nil
}

// mayHaveStarted reports whether the attempt to start can have permitted that member to start. One that has joined since may have the name of an
// initial one, and never its ID.
func (v *view) mayHaveStarted(name string, cluster, id member.ID) bool {
	b := v.Cluster.Bootstrap
	ids, computed := IDs(b.Token, v.Cluster.peerURLs(b.Members))
	// With another cluster domain in the spec by now the URLs are others, and nothing follows from the IDs.
	if uint64(cluster) != b.ClusterID || computed == b.ClusterID && uint64(id) != ids[name] {
		return false
	}
	if b.Restore != "" {
		return slices.Contains(b.Members, name)
	}
	_, bound := initialPodOf(b, name)
	return bound
}

func (v *view) outdatedBlocked(what string, cluster member.ID) Action {
	return Blocked{
		Reason: v1beta2.ReasonStatusOutdated,
		Message: fmt.Sprintf("%s is of a member of cluster %s, which status does not know of yet: status was put back to an older one, and nothing is "+
			"changed by it. Save it (kubectl get etcdcluster %[3]s -n %[4]s -o yaml), then remove it, and the operator takes over the members that are "+
			`there, if all are of one cluster: kubectl patch etcdcluster %[3]s -n %[4]s --subresource=status --type=json -p '[{"op":"remove","path":"/status"}]'`,
			what, cluster, v.Cluster.Name, v.Cluster.Namespace),
	}
}
