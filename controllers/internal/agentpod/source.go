package agentpod

import (
	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// SnapshotCluster identifies the cluster that a snapshot is taken of. What it was restored from is in the record of the restore
// that it was last started by.
func SnapshotCluster(c *v1beta2.EtcdCluster) task.Cluster {
	of := task.Cluster{Namespace: c.Namespace, Name: c.Name, UID: string(c.UID), ID: c.Status.ClusterID}
	if c.Status.Bootstrap == nil {
		return of
	}
	of.Incarnation = c.Status.Bootstrap.Incarnation
	for _, r := range c.Status.Restores {
		if r.UID == c.Status.Bootstrap.Restore {
			of.Parent, of.ParentRevision = task.ClusterID(r.SourceClusterID), r.SourceRevision
		}
	}
	return of
}

// Ancestors are the IDs of the clusters that this one's data descends from, the latest first.
func Ancestors(c *v1beta2.EtcdCluster) (ids []string) {
	for _, r := range c.Status.Restores {
		if r.SourceClusterID != "" {
			ids = append(ids, r.SourceClusterID)
		}
	}
	return ids
}

// MemberURLs are the client URLs of the members of some roles, not of the Service: a snapshot is of one member, and one that is
// not in the Service may still have the data. One whose data was found to differ is among them only if it is the only one.
func MemberURLs(c *v1beta2.EtcdCluster, of func(v1beta2.MemberRole) bool) (urls []string) {
	wrong := ""
	for _, m := range c.Status.MemberStatuses {
		if !of(m.Role) {
			continue
		}
		url := member.ClientURL(member.Host(m.Name, c.Name, c.Namespace, resources.Domain(c)), resources.Transport(c))
		if foundToDiffer(&c.Status, m) {
			wrong = url
			continue
		}
		urls = append(urls, url)
	}
	if len(urls) == 0 && wrong != "" {
		return []string{wrong}
	}
	return urls
}

// foundToDiffer reports whether a majority of the voters agreed without the member, once or more often.
func foundToDiffer(s *v1beta2.EtcdClusterStatus, m v1beta2.MemberStatus) bool {
	q := s.Quarantined
	return q != nil && q.Name == m.Name && q.MemberID == m.ID || s.Doubt != nil && s.Doubt.Suspect != "" && s.Doubt.Suspect == m.ID
}

// TLSSecret is the Secret with which an agent is a client of the cluster, empty if its members serve clients without TLS.
func TLSSecret(c *v1beta2.EtcdCluster) string {
	if !resources.Transport(c).ClientTLS {
		return ""
	}
	return certificates.AgentName(c.Name)
}

// Voting reports whether members of the role have all data.
func Voting(r v1beta2.MemberRole) bool { return r == v1beta2.MemberRoleVoter }

// Listed reports whether members of the role may have data.
func Listed(r v1beta2.MemberRole) bool { return r != v1beta2.MemberRoleNone }
