package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// mostPreferred is the greatest weight that a preference can have.
const mostPreferred = 100

// avoid keeps a pod away from a node, in addition to what the spec asks for. The node is named by its name and not by its label
// kubernetes.io/hostname, which need not be the same.
func avoid(pod *corev1.Pod, a plan.Avoidance) {
	if a.Node == "" {
		return
	}
	other := corev1.NodeSelectorRequirement{
		Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{a.Node},
	}
	affinity := pod.Spec.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	pod.Spec.Affinity = affinity
	if to := affinity.NodeAffinity; a.Strictly {
		to.RequiredDuringSchedulingIgnoredDuringExecution = requires(to.RequiredDuringSchedulingIgnoredDuringExecution, other)
		pod.Annotations[AnnotationAvoids] = a.Node
	} else {
		to.PreferredDuringSchedulingIgnoredDuringExecution = append(to.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{
				Weight: mostPreferred, Preference: corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{other}},
			})
	}
}

// requires adds a requirement to every term: a node has to meet one of them.
func requires(have *corev1.NodeSelector, other corev1.NodeSelectorRequirement) *corev1.NodeSelector {
	if have == nil || len(have.NodeSelectorTerms) == 0 {
		have = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	for i := range have.NodeSelectorTerms {
		term := &have.NodeSelectorTerms[i]
		term.MatchFields = append(slices.Clone(term.MatchFields), other)
	}
	return have
}

// Avoids is the node that a pod must not be on because it is to take the place of a member there, empty if there is none.
func Avoids(pod *corev1.Pod) string { return pod.Annotations[AnnotationAvoids] }
