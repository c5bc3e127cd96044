package controllers

import (
	"k8s.io/apimachinery/pkg/api/meta"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// ranBefore tells whether coreos/etcd-operator has run a cluster under the object. Its status has no observedGeneration,
// which this operator's has from its first write on: what it says is noted with that, for the write leaves nothing of it.
func ranBefore(s *v1beta2.EtcdClusterStatus) bool {
	if s.ClusterID != "" || s.Bootstrap != nil {
		return false
	}
	traces := s.Phase != "" || s.Size > 0 || s.CurrentVersion != "" || len(s.Members.Ready)+len(s.Members.Unready) > 0
	return s.RanBefore || s.ObservedGeneration == 0 && traces
}

// blockedBy tells whether that is why a cluster does not go on.
func blockedBy(c *v1beta2.EtcdCluster, reason string) bool {
	doing := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionProgressing)
	return doing != nil && doing.Reason == reason
}
