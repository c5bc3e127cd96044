package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
