package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// annotationLegacyVersion is on every member's pod of coreos/etcd-operator (SetEtcdVersion in its pkg/util/k8sutil).
const annotationLegacyVersion = "etcd.version"

// LegacyPod reports whether coreos/etcd-operator made this pod with a cluster's labels: the cluster owns it, and it has none
// of what this operator puts on a pod when it makes it. One that has lost its owner is known by that one's own mark.
func LegacyPod(pod *corev1.Pod) bool {
	return !marked(pod.ObjectMeta) &&
		(metav1.GetControllerOf(pod) != nil || pod.Annotations[annotationLegacyVersion] != "")
}

// LegacyVolume tells the same of a claim. There they have no mark but their owner, the EtcdCluster.
func LegacyVolume(claim *corev1.PersistentVolumeClaim) bool {
	return metav1.GetControllerOf(claim) != nil && !marked(claim.ObjectMeta)
}

// marked reports whether this operator made or adopted the object. Each mark alone says so: one may be taken off by hand.
func marked(meta metav1.ObjectMeta) bool {
	if _, ok := meta.Labels[LabelIncarnation]; ok {
		return true
	}
	for _, key := range []string{
		AnnotationTemplate, AnnotationClusterUID, AnnotationClusterID, AnnotationMemberID, member.PermitAnnotation,
	} {
		if _, ok := meta.Annotations[key]; ok {
			return true
		}
	}
	return false
}
