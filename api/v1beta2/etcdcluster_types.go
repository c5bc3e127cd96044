package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// EtcdClusterSpec is the desired state of an etcd cluster.
//
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(self.TLS) || !has(self.TLS.static)",message="give tls or TLS, not both: TLS is what coreos/etcd-operator called it"
// +kubebuilder:validation:XValidation:rule="!has(self.auth) || !self.auth.enabled || has(self.tls) && (has(self.tls.managed) || has(self.tls.static) && has(self.tls.static.operatorSecret) && has(self.tls.static.member) && has(self.tls.static.member.serverSecret)) || has(self.TLS) && (has(self.TLS.managed) || has(self.TLS.static) && has(self.TLS.static.operatorSecret) && has(self.TLS.static.member) && has(self.TLS.static.member.serverSecret))",message="auth.enabled needs TLS for clients, because users are known by their certificates: set tls.managed, or tls.static with member.serverSecret and operatorSecret"
// +kubebuilder:validation:XValidation:rule="!has(self.auth) || !self.auth.enabled || !(has(self.tls) && has(self.tls.plaintextClients) && self.tls.plaintextClients == 'Allowed') && !(has(self.TLS) && has(self.TLS.plaintextClients) && self.TLS.plaintextClients == 'Allowed')",message="auth.enabled needs clients that have certificates to be known by: remove tls.plaintextClients"
// +kubebuilder:validation:XValidation:rule="!has(self.hibernate) || !self.hibernate || has(self.pod) && has(self.pod.persistentVolumeClaimSpec)",message="hibernate needs volumes: data on emptyDirs ends with the pods; set pod.persistentVolumeClaimSpec"
// +kubebuilder:validation:XValidation:rule="!self.?autopilot.?resources.?min.?cpu.hasValue() && !self.?autopilot.?resources.?max.?cpu.hasValue() || self.?pod.?resources.?requests[?'cpu'].or(self.?pod.?resources.?limits[?'cpu']).hasValue()",message="autopilot.resources bounds cpu, which pod.resources does not name: say there what the members start with"
// +kubebuilder:validation:XValidation:rule="!self.?autopilot.?resources.?min.?memory.hasValue() && !self.?autopilot.?resources.?max.?memory.hasValue() || self.?pod.?resources.?requests[?'memory'].or(self.?pod.?resources.?limits[?'memory']).hasValue()",message="autopilot.resources bounds memory, which pod.resources does not name: say there what the members start with"
// +kubebuilder:validation:XValidation:rule="!has(self.restoreFrom) || has(oldSelf.restoreFrom) && self.restoreFrom == oldSelf.restoreFrom",message="restoreFrom is for a cluster's first start: create an EtcdRestore to replace the data of one that is there"
type EtcdClusterSpec struct {
	// size is the number of members, 1 to 9. Use an odd number: an even one tolerates no more failures than the odd one
	// below it.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Size",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:podCount"},order=1
	Size int32 `json:"size"`

	// repository is the image repository of etcd; by default the operator's ETCD_REPOSITORY, or else quay.io/coreos/etcd. The
	// image is repository:v<version>.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Image repository",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"},order=9
	Repository string `json:"repository,omitempty"`

	// version is the etcd version, for example 3.6.16, or a minor release such as 3.6, with or without a leading v. If empty, a new cluster
	// gets the operator's default, and an existing one keeps its last version: an operator with another default updates no etcd. Of a minor
	// release, a new cluster gets the newest version that the operator is tested with, and an existing one keeps the version of it that it
	// runs, until autopilot.patches updates it to a newer one.
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+)?$')",message="version must be a full version such as 3.6.16, or a minor release such as 3.6"
	// +kubebuilder:validation:MaxLength=32
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="etcd version",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=2
	Version string `json:"version,omitempty"`

	// paused pauses reconciliation of the cluster: nothing is changed, and nothing is repaired.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Paused",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"},order=8
	Paused bool `json:"paused,omitempty"`

	// hibernate stops all members once they are healthy and nothing else is under way, and keeps their volumes: nobody is served, and
	// nothing is lost. Set it to false, and they start again with their data. It needs volumes (pod.persistentVolumeClaimSpec).
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Hibernate",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch","urn:alm:descriptor:com.tectonic.ui:advanced"}
	Hibernate bool `json:"hibernate,omitempty"`

	// pod configures the members' pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pods",order=3
	Pod *PodPolicy `json:"pod,omitempty"`

	// etcd sets etcd's own options. A change restarts the members one after the other.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="etcd options",order=4
	Etcd *EtcdOptions `json:"etcd,omitempty"`

	// services configures the Services.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Services",order=5
	Services *ServicesPolicy `json:"services,omitempty"`

	// networkPolicy configures the NetworkPolicy of the members' pods. If absent, there is one of mode Peers.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Network policy",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=12
	NetworkPolicy *NetworkPolicySpec `json:"networkPolicy,omitempty"`

	// monitoring says what the operator makes for Prometheus Operator, where that is installed. If absent, it is as with mode Auto.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Monitoring",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=14
	Monitoring *MonitoringSpec `json:"monitoring,omitempty"`

	// restoreFrom starts the cluster from a snapshot instead of empty. The operator creates an EtcdRestore for it, called
	// <name>-restore, whose pods have the members' service account and placement. To configure more of them, create one of that
	// name first.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Start from a snapshot",order=7
	RestoreFrom *RestoreSource `json:"restoreFrom,omitempty"`

	// tls secures the connections between members and with clients; they are plain text if it is absent or empty. It can be
	// changed while the cluster runs: every member then restarts twice.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="TLS",order=9
	TLS *TLSPolicy `json:"tls,omitempty"`

	// auth switches etcd's authentication on or off, at any time, which takes TLS for clients. If it is absent, authentication stays as
	// it is: off in a new cluster, and as in the snapshot in one that was restored.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Authentication",order=13
	Auth *AuthPolicy `json:"auth,omitempty"`

	// autopilot says what the operator may do by itself beyond keeping the cluster at this spec. If absent, each
	// feature has its own default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Auto Pilot",order=15
	Autopilot *AutopilotSpec `json:"autopilot,omitempty"`

	// maintenanceWindow is when Auto Pilot may do what costs clients a moment and can wait. Only features of spec.autopilot wait for it: edits,
	// updates, scaling and repairs do not.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Maintenance window",order=16
	MaintenanceWindow *MaintenanceWindow `json:"maintenanceWindow,omitempty"`

	// TLS is coreos/etcd-operator's name of tls, with the same meaning. Use tls in new manifests.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="TLS (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	LegacyTLS *TLSPolicy `json:"TLS,omitempty"`

	// volumeReclaimPolicy is what happens to the members' PersistentVolumeClaims when the cluster is deleted. The default is
	// Delete, as with coreos/etcd-operator, and an event warns of it. Retain keeps them, and a cluster of the same name adopts
	// them.
	// +kubebuilder:validation:Enum=Delete;Retain
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Volumes of a deleted cluster",order=6
	VolumeReclaimPolicy VolumeReclaimPolicy `json:"volumeReclaimPolicy,omitempty"`

	// recovery says what happens once a majority of the voters is lost for good. If it is absent, a plan is shown in
	// status.recovery, and nothing is done until a user confirms it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Recovery",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=17
	Recovery *RecoverySpec `json:"recovery,omitempty"`
}

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

// EtcdCluster is an etcd cluster that the operator manages.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=etcd;etcdc,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Members",type=string,JSONPath=`.status.readySummary`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.currentVersion`
// +kubebuilder:printcolumn:name="Storage",type=string,JSONPath=`.status.storage`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`,priority=1
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,priority=1
// +kubebuilder:printcolumn:name="Leader",type=string,JSONPath=`.status.leader`,priority=1
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.targetVersion`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 52",message="metadata.name must start with a letter, hold only lower-case letters, digits and dashes, and have at most 52 characters: it is part of the names of Services (<name>-client) and pods, which DNS limits to 63"
// +operator-sdk:csv:customresourcedefinitions:displayName="etcd Cluster",resources={{Pod,v1},{PersistentVolumeClaim,v1},{Service,v1},{PodDisruptionBudget,v1},{Event,v1},{EtcdRestore,v1beta2,etcdrestores.etcd.database.coreos.com}},order=1
type EtcdCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state.
	// +required
	Spec EtcdClusterSpec `json:"spec"`
	// status is the observed state.
	// +optional
	Status EtcdClusterStatus `json:"status,omitzero"`
}

// EtcdClusterList is a list of EtcdClusters.
//
// +kubebuilder:object:root=true
type EtcdClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []EtcdCluster `json:"items"`
}
