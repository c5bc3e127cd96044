package controllers

import (
	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
)

// snapshotCluster is the cluster that a snapshot is to be of.
func snapshotCluster(c *v1beta2.EtcdCluster) snapshot.Cluster {
	return snapshot.Cluster{Namespace: c.Namespace, Name: c.Name, UID: string(c.UID), ID: c.Status.ClusterID}
}

// memberURLs are where members of some roles serve clients, without the Service between: a snapshot is of one of them, and
// one that does not serve may still have the data.
func memberURLs(c *v1beta2.EtcdCluster, of func(v1beta2.MemberRole) bool) (urls []string) {
	for _, m := range c.Status.MemberStatuses {
		if of(m.Role) {
			host := member.Host(m.Name, c.Name, c.Namespace, resources.Domain(c))
			urls = append(urls, member.ClientURL(host))
		}
	}
	return urls
}

// voting tells whether members of the role have all data.
func voting(r v1beta2.MemberRole) bool { return r == v1beta2.MemberRoleVoter }

// listed tells whether members of the role may have data.
func listed(r v1beta2.MemberRole) bool { return r != v1beta2.MemberRoleNone }
