package controllers

import v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"

// ranBefore tells whether coreos/etcd-operator has run a cluster under the object. Its status has no observedGeneration,
// which this operator's has from its first write on: what it says is noted with that, for the write leaves nothing of it.
func ranBefore(s *v1beta2.EtcdClusterStatus) bool {
	if s.ClusterID != "" || s.Bootstrap != nil {
		return false
	}
	traces := s.Phase != "" || s.Size > 0 || s.CurrentVersion != "" || len(s.Members.Ready)+len(s.Members.Unready) > 0
	return s.RanBefore || s.ObservedGeneration == 0 && traces
}
