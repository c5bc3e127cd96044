package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// annotationLegacyVersion is on every member's pod of coreos/etcd-operator (SetEtcdVersion in its pkg/util/k8sutil).
const annotationLegacyVersion = "etcd.version"

// LegacyPod reports whether coreos/etcd-operator created this pod with a cluster's labels: the cluster owns it, and it has none of the
// marks that this operator sets on a new pod. One without an owner is recognized by coreos/etcd-operator's own mark.
func LegacyPod(pod *corev1.Pod) bool {
	return !marked(pod.ObjectMeta) &&
		(metav1.GetControllerOf(pod) != nil || pod.Annotations[annotationLegacyVersion] != "")
}

// LegacyVolume is LegacyPod for a claim, whose only mark is its owner, the EtcdCluster.
func LegacyVolume(claim *corev1.PersistentVolumeClaim) bool {
	return metav1.GetControllerOf(claim) != nil && !marked(claim.ObjectMeta)
}

// marked reports whether this operator created or adopted the object. Any one mark suffices: others may have been removed by hand.
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
