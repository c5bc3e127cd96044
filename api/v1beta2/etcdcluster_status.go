package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterPhase summarizes the conditions in a word, for old clients and kubectl get.
type ClusterPhase string

// Cluster phases. The first three are coreos/etcd-operator's.
const (
	// ClusterPhaseCreating is a cluster that is not up yet.
	ClusterPhaseCreating ClusterPhase = "Creating"
	// ClusterPhaseRestoring is a cluster that has been up, and whose data is being replaced by a snapshot's.
	ClusterPhaseRestoring ClusterPhase = "Restoring"
	// ClusterPhaseRunning is a cluster with quorum.
	ClusterPhaseRunning ClusterPhase = "Running"
	// ClusterPhaseFailed is a cluster that is not available, and in which the operator has no step to take now; reason says why. With an alarm of
	// etcd, Auto Pilot may still mend it: see the conditions.
	ClusterPhaseFailed ClusterPhase = "Failed"
	// ClusterPhaseUnavailable is a cluster without quorum, or one whose members refuse what clients ask for, that may recover.
	ClusterPhaseUnavailable ClusterPhase = "Unavailable"
	// ClusterPhaseHibernated is a cluster whose members are stopped, because spec.hibernate asks for that.
	ClusterPhaseHibernated ClusterPhase = "Hibernated"
)

// EtcdClusterStatus is the observed state of an etcd cluster.
//
// +kubebuilder:pruning:PreserveUnknownFields
type EtcdClusterStatus struct {
	// observedGeneration is the generation of the spec that this status is based on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase summarizes the conditions in a word.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Phase",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase"},order=2
	Phase ClusterPhase `json:"phase,omitempty"`
	// reason says why the phase is Failed or Unavailable.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Reason",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase:reason"},order=3
	Reason string `json:"reason,omitempty"`
	// controlPaused is true while reconciliation is paused by spec.paused.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Paused",xDescriptors={"urn:alm:descriptor:text"},order=12
	ControlPaused bool `json:"controlPaused,omitempty"`
	// conditions are Ready, Available, Progressing and Degraded, with TLS CertificatesValid, with spec.auth Authenticated, and Anomaly, unless that
	// is switched off, or the cluster is paused or hibernates.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Conditions",xDescriptors={"urn:alm:descriptor:io.kubernetes.conditions"},order=15
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// size is the number of members that etcd lists.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Size",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:podCount"},order=10
	Size int32 `json:"size,omitempty"`
	// serviceName is the Service for clients.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Service for clients",xDescriptors={"urn:alm:descriptor:io.kubernetes:Service"},order=8
	ServiceName string `json:"serviceName,omitempty"`
	// clientPort is the port of that Service.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Client port",xDescriptors={"urn:alm:descriptor:text"},order=9
	ClientPort int32 `json:"clientPort,omitempty"`
	// endpoints are the URLs for clients inside the Kubernetes cluster.
	// +listType=atomic
	// +optional
	Endpoints []string `json:"endpoints,omitempty"`
	// members are the names of the members that are ready and of those that are not.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Members",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:podStatuses"},order=1
	Members MembersStatus `json:"members,omitzero"`
	// readyMembers is the number of voters that are ready: they answer and follow a leader. Operators before the first release
	// wrote a string such as 3/3.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Ready members",xDescriptors={"urn:alm:descriptor:text"},order=4
	ReadyMembers int32 `json:"readyMembers,omitempty"`
	// readySummary is for kubectl get only: the ready voters out of all voters that etcd lists, such as 3/3.
	// +optional
	ReadySummary string `json:"readySummary,omitempty"`
	// storage is where the members keep their data: PVC if all have volumes of their own, emptyDir if any of them loses its data
	// with its pod.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Storage",xDescriptors={"urn:alm:descriptor:text"},order=9
	Storage MemberStorage `json:"storage,omitempty"`
	// memberStatuses describe each member, and each pod that is to become one.
	// +listType=map
	// +listMapKey=name
	// +optional
	MemberStatuses []MemberStatus `json:"memberStatuses,omitempty"`
	// leader is the name of the leader.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Leader",xDescriptors={"urn:alm:descriptor:io.kubernetes:Pod"},order=7
	Leader string `json:"leader,omitempty"`
	// currentVersion is the etcd version that the cluster runs: the lowest of its members' versions if they differ.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="etcd version",xDescriptors={"urn:alm:descriptor:text"},order=5
	CurrentVersion string `json:"currentVersion,omitempty"`
	// targetVersion is the etcd version that is being rolled out: that of the spec, or the patch release that Auto Pilot has chosen. Empty if there
	// is none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Target version",xDescriptors={"urn:alm:descriptor:text"},order=6
	TargetVersion string `json:"targetVersion,omitempty"`
	// updatedMembers is the number of members whose pods match the spec.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Updated members",xDescriptors={"urn:alm:descriptor:text"},order=11
	UpdatedMembers int32 `json:"updatedMembers,omitempty"`
	// clusterID is etcd's cluster ID in hexadecimal, set once the cluster first had quorum.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="etcd's cluster ID",xDescriptors={"urn:alm:descriptor:text"},order=14
	ClusterID string `json:"clusterID,omitempty"`
	// tls is what is known of the certificates; absent without TLS.
	// +optional
	TLS *TLSStatus `json:"tls,omitempty"`
	// auth is what is known of etcd's authentication; absent if spec.auth never asked for any.
	// +optional
	Auth *AuthStatus `json:"auth,omitempty"`
	// quorumLostSince is when the cluster was found to have lost quorum; absent while it has quorum.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Quorum lost since",xDescriptors={"urn:alm:descriptor:text"},order=13
	QuorumLostSince *metav1.Time `json:"quorumLostSince,omitempty"`
	// hibernation is Hibernated once all members are stopped, or are being stopped, as spec.hibernate asks for, and Waking from when they
	// are to start again until a quorum of them answers.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Hibernation",xDescriptors={"urn:alm:descriptor:text"}
	Hibernation string `json:"hibernation,omitempty"`
	// restores are the EtcdRestores whose snapshots have replaced the data, the newest first.
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Restores []RestoreRecord `json:"restores,omitempty"`
	// keptVolumes hold the data that restores have replaced, except those with safetySnapshot Skip, data written in attempts at a restore
	// that were abandoned, and that of members whose data differed from the others'. The operator neither uses nor deletes them: delete them
	// yourself (kubectl delete pvc) once their data is no longer needed. They are deleted with the EtcdCluster, unless spec.volumeReclaimPolicy is Retain.
	// +listType=map
	// +listMapKey=uid
	// +optional
	KeptVolumes []KeptVolume `json:"keptVolumes,omitempty"`
	// operator is the one that reconciles this EtcdCluster: no other does while that one is running.
	// +optional
	Operator *OperatorReference `json:"operator,omitempty"`
	// selector selects the members' pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// autopilot is what Auto Pilot has chosen in the place of what the spec says, what it holds back, and how far the operator lets it go;
	// absent if there is nothing of that.
	// +optional
	Autopilot *AutopilotStatus `json:"autopilot,omitempty"`

	// recovery is what can be done about a lost quorum; absent while there is one, and while nothing can be planned.
	// +optional
	Recovery *RecoveryStatus `json:"recovery,omitempty"`
	// internal is the operator's own state. It is not part of the API, and any release may change it: neither read nor write it.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	InternalStatus `json:"internal,omitzero"`
}

// MemberStorage is what members keep their data on.
type MemberStorage string

// Storages of members.
const (
	// MemberStoragePVC is a PersistentVolumeClaim for each member.
	MemberStoragePVC MemberStorage = "PVC"
	// MemberStorageEmptyDir is a volume that is deleted with its pod.
	MemberStorageEmptyDir MemberStorage = "emptyDir"
)

// MembersStatus names members.
type MembersStatus struct {
	// ready are voters that answer and follow a leader.
	// +listType=atomic
	// +optional
	Ready []string `json:"ready,omitempty"`
	// unready are all others.
	// +listType=atomic
	// +optional
	Unready []string `json:"unready,omitempty"`
}

// MemberRole is a member's role in the cluster.
type MemberRole string

// Member roles.
const (
	// MemberRoleNone is a pod that etcd does not list as a member (yet, or any more).
	MemberRoleNone MemberRole = "None"
	// MemberRoleLearner is a member that receives the data but does not vote.
	MemberRoleLearner MemberRole = "Learner"
	// MemberRoleVoter is a member that votes.
	MemberRoleVoter MemberRole = "Voter"
)

// MemberStatus is the status of one member.
type MemberStatus struct {
	// name of the member, its pod and its volume.
	// +required
	Name string `json:"name"`
	// id is etcd's member ID in hexadecimal.
	// +optional
	ID string `json:"id,omitempty"`
	// role is Voter, Learner, or None.
	// +optional
	Role MemberRole `json:"role,omitempty"`
	// leader is true for the leader.
	// +optional
	Leader bool `json:"leader,omitempty"`
	// ready is true for a voter that answers and follows a leader.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// version is the etcd version that it runs.
	// +optional
	Version string `json:"version,omitempty"`
	// updated is true if its pod matches the spec.
	// +optional
	Updated bool `json:"updated,omitempty"`
	// dbSize is the size of its database, rounded up.
	// +optional
	DBSize *resource.Quantity `json:"dbSize,omitempty"`
	// node is the node that its pod runs on.
	// +optional
	Node string `json:"node,omitempty"`
	// message says why it is not ready; empty if it is.
	// +optional
	Message string `json:"message,omitempty"`
}
