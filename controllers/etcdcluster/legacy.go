package etcdcluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// podConflict describes the owner of a pod that is not a member's. Pods of coreos/etcd-operator count as the cluster's as long as this
// operator has started none for it: they have no owner if the EtcdCluster was deleted without them and recreated, and may still
// serve clients. Once this operator has started members, they are another operator's.
func podConflict(pod *corev1.Pod, c *v1beta2.EtcdCluster) *plan.Conflict {
	conflict, ours := conflictOf(plan.KindPod, pod, c), c.Status.ClusterID != "" || c.Status.Bootstrap != nil
	switch {
	case !resources.LegacyPod(pod):
		return conflict
	case ours && conflict == nil:
		return &plan.Conflict{Kind: plan.KindPod, Name: pod.Name, Owner: "coreos/etcd-operator"}
	case !ours && metav1.GetControllerOf(pod) == nil:
		return nil
	}
	return conflict
}
