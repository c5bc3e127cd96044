package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PodPolicy configures the members' pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clusterDomain) || !has(self.ClusterDomain) || size(self.ClusterDomain) == 0",message="give clusterDomain or ClusterDomain, not both: ClusterDomain is what coreos/etcd-operator called it"
type PodPolicy struct {
	// labels are added to the pods. The keys app, etcd_* and etcd.database.coreos.com/* are reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'app' && !k.startsWith('etcd_') && !k.startsWith('etcd.database.coreos.com/'))",message="pod.labels: the keys app, etcd_* and etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Labels",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods. The keys etcd.database.coreos.com/* are reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('etcd.database.coreos.com/'))",message="pod.annotations: the keys etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Annotations",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector restricts the nodes.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Node selector",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity replaces the default spreading over nodes and zones.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Affinity",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// antiAffinity requires a separate node for each member, unless affinity is set. Deprecated: use affinity or
	// topologySpreadConstraints.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="A node for each member (deprecated)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	AntiAffinity bool `json:"antiAffinity,omitempty"`

	// topologySpreadConstraints replace the default spreading over nodes and zones.
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Topology spread",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// tolerations of the pods. By default a pod is evicted from a node that is NotReady or unreachable after 30 seconds.
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Tolerations",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// resources of the etcd container.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Resources",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:resourceRequirements"},order=10
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// etcdEnv sets etcd's options as ETCD_* variables. They are translated into etcd's configuration file.
	// +kubebuilder:validation:items:XValidation:rule="!has(self.valueFrom)",message="etcdEnv: give the value itself instead of valueFrom, for it goes into etcd's configuration file"
	// +kubebuilder:validation:MaxItems=128
	// +listType=map
	// +listMapKey=name
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="etcd options as ETCD_* variables",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	EtcdEnv []corev1.EnvVar `json:"etcdEnv,omitempty"`

	// persistentVolumeClaimSpec gives every member a volume of its own. If absent, members keep their data in emptyDir
	// volumes, and a member whose pod is deleted is replaced.
	// +kubebuilder:validation:XValidation:rule="has(self.resources) && has(self.resources.requests) && 'storage' in self.resources.requests",message="persistentVolumeClaimSpec.resources.requests.storage is missing: say how large the volume of each member is to be, such as 8Gi"
	// +kubebuilder:validation:XValidation:rule="!has(self.accessModes) || !('ReadWriteMany' in self.accessModes)",message="persistentVolumeClaimSpec.accessModes: ReadWriteMany lets two processes write to one member's data: use ReadWriteOnce or ReadWriteOncePod"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Volume of each member",order=11
	PersistentVolumeClaimSpec *corev1.PersistentVolumeClaimSpec `json:"persistentVolumeClaimSpec,omitempty"`

	// securityContext replaces the default one, which meets the restricted Pod Security Standard.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Security context",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// priorityClassName of the pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Priority class",xDescriptors={"urn:alm:descriptor:io.kubernetes:PriorityClass","urn:alm:descriptor:com.tectonic.ui:advanced"}
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// serviceAccountName of the pods. Its token is not mounted.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service account",xDescriptors={"urn:alm:descriptor:io.kubernetes:ServiceAccount","urn:alm:descriptor:com.tectonic.ui:advanced"}
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// imagePullSecrets of the pods.
	// +listType=map
	// +listMapKey=name
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image pull secrets",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// volumeLabels are added to the members' PersistentVolumeClaims. The keys app, etcd_* and etcd.database.coreos.com/* are
	// reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'app' && !k.startsWith('etcd_') && !k.startsWith('etcd.database.coreos.com/'))",message="pod.volumeLabels: the keys app, etcd_* and etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	VolumeLabels map[string]string `json:"volumeLabels,omitempty"`

	// volumeAnnotations are added to the members' PersistentVolumeClaims. The keys etcd.database.coreos.com/* are reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('etcd.database.coreos.com/'))",message="pod.volumeAnnotations: the keys etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	VolumeAnnotations map[string]string `json:"volumeAnnotations,omitempty"`

	// template is applied to the pod that the operator builds, as a strategic merge patch in the shape of a PodTemplateSpec:
	// containers, volumes and variables are merged by name. Use it for what has no field here, such as additional
	// containers, variables and imagePullPolicy of the etcd container, runtimeClassName, hostAliases, or a
	// terminationGracePeriodSeconds of more than 30. It cannot change what the operator relies on: the labels app and etcd_*,
	// hostname, restartPolicy, the operator's volumes, and image, command, ports and resources of the etcd container. Unknown
	// fields are rejected.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	Template *runtime.RawExtension `json:"template,omitempty"`

	// clusterDomain is appended to the members' DNS names, for example .cluster.local.
	// +kubebuilder:validation:XValidation:rule="self == '' || self.startsWith('.')",message="clusterDomain must start with a dot, for example .cluster.local"
	// +kubebuilder:validation:MaxLength=63
	// +optional
	ClusterDomain string `json:"clusterDomain,omitempty"`

	// ClusterDomain is coreos/etcd-operator's name of clusterDomain, with the same meaning. Use clusterDomain in new manifests.
	// +kubebuilder:validation:XValidation:rule="self == '' || self.startsWith('.')",message="ClusterDomain must start with a dot, for example .cluster.local"
	// +kubebuilder:validation:MaxLength=63
	// +optional
	LegacyClusterDomain string `json:"ClusterDomain,omitempty"`

	// busyboxImage was the image of an init container that no longer exists. It is accepted and has no effect.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Busybox image (no effect)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	BusyboxImage string `json:"busyboxImage,omitempty"`

	// DNSTimeoutInSecond was how long that init container waited for DNS. It is accepted and has no effect: a member
	// is started only once its DNS name exists.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="DNS time-out (no effect)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	DNSTimeoutInSecond int64 `json:"DNSTimeoutInSecond,omitempty"`
}
