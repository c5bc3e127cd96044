package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// AgentPodPolicy configures the pods that read and write backups.
type AgentPodPolicy struct {
	// labels are added to the pods. The keys app, etcd_* and etcd.database.coreos.com/* are reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'app' && !k.startsWith('etcd_') && !k.startsWith('etcd.database.coreos.com/'))",message="pod.labels: the keys app, etcd_* and etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are added to the pods. The keys etcd.database.coreos.com/* are reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('etcd.database.coreos.com/'))",message="pod.annotations: the keys etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// serviceAccountName gives the pods a cloud identity. They never access the Kubernetes API.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service account",xDescriptors={"urn:alm:descriptor:io.kubernetes:ServiceAccount"}
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// resources of the container.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Resources",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:resourceRequirements"}
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
	// nodeSelector restricts the nodes.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// tolerations of the pods.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// priorityClassName of the pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Priority class",xDescriptors={"urn:alm:descriptor:io.kubernetes:PriorityClass"}
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// imagePullSecrets for the operator's image.
	// +optional
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// scratch is the volume that a backup is restored into to verify it, and on which it is buffered if the storage is slow;
	// emptyDir by default.
	// +kubebuilder:validation:XValidation:rule="has(self.resources) && has(self.resources.requests) && 'storage' in self.resources.requests",message="scratch.resources.requests.storage is missing: say how large the volume is to be, such as 8Gi"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Volume to restore into"
	Scratch *corev1.PersistentVolumeClaimSpec `json:"scratch,omitempty"`
	// spool is how much of a backup may be buffered on that volume if the storage is slower than etcd; 1Gi by default, and 0
	// disables it. Until etcd has sent the whole snapshot, its database frees no space, and grows with every write. Nothing is
	// written to the volume while the storage keeps up, and the last fifth of its disk is never used.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : !self.startsWith('-')",message="spool must not be negative: give 0 to do without"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Space to wait for the storage",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"}
	Spool *resource.Quantity `json:"spool,omitempty"`
}
