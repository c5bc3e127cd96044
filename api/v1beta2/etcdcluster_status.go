package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterPhase sums the conditions up in a word, for old clients and kubectl get.
type ClusterPhase string

// Cluster phases. The first three are coreos/etcd-operator's.
const (
	// ClusterPhaseCreating is a cluster that has not been up yet.
	ClusterPhaseCreating ClusterPhase = "Creating"
	// ClusterPhaseRestoring is a cluster that has been up, and whose data is being replaced by a snapshot.
	ClusterPhaseRestoring ClusterPhase = "Restoring"
	// ClusterPhaseRunning is a cluster of which a quorum answers.
	ClusterPhaseRunning ClusterPhase = "Running"
	// ClusterPhaseFailed is a cluster that is not available and that the operator cannot mend; reason says what to do.
	ClusterPhaseFailed ClusterPhase = "Failed"
	// ClusterPhaseUnavailable is a cluster without a quorum that may come back.
	ClusterPhaseUnavailable ClusterPhase = "Unavailable"
)

// EtcdClusterStatus is what the operator sees.
//
// +kubebuilder:pruning:PreserveUnknownFields
type EtcdClusterStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase sums the conditions up in a word.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Phase",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase"},order=2
	Phase ClusterPhase `json:"phase,omitempty"`
	// reason says why the phase is Failed or Unavailable.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Reason",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase:reason"},order=3
	Reason string `json:"reason,omitempty"`
	// controlPaused is true while spec.paused keeps the operator's hands off.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Paused",xDescriptors={"urn:alm:descriptor:text"},order=12
	ControlPaused bool `json:"controlPaused,omitempty"`
	// conditions are Ready, Available, Progressing and Degraded.
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
	// readyMembers is the number of voters that are ready: they answer and follow a leader. An operator of the time before the first
	// release wrote a string such as 3/3.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Ready members",xDescriptors={"urn:alm:descriptor:text"},order=4
	ReadyMembers int32 `json:"readyMembers,omitempty"`
	// readySummary is for kubectl get only: the voters that are ready of those that etcd lists, such as 3/3.
	// +optional
	ReadySummary string `json:"readySummary,omitempty"`
	// storage is where the members keep their data: PVC if all have volumes of their own, emptyDir if the data of any of them
	// goes with its pod.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Storage",xDescriptors={"urn:alm:descriptor:text"},order=9
	Storage MemberStorage `json:"storage,omitempty"`
	// memberStatuses tell of each member and of each pod that is to become one.
	// +listType=map
	// +listMapKey=name
	// +optional
	MemberStatuses []MemberStatus `json:"memberStatuses,omitempty"`
	// leader is the name of the member that leads.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Leader",xDescriptors={"urn:alm:descriptor:io.kubernetes:Pod"},order=7
	Leader string `json:"leader,omitempty"`
	// currentVersion is the etcd version that the cluster runs: the lowest of its members' while they differ.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="etcd version",xDescriptors={"urn:alm:descriptor:text"},order=5
	CurrentVersion string `json:"currentVersion,omitempty"`
	// targetVersion is the etcd version that the spec asks for, where it is another.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Target version",xDescriptors={"urn:alm:descriptor:text"},order=6
	TargetVersion string `json:"targetVersion,omitempty"`
	// updatedMembers is the number of members whose pods are as the spec asks.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Updated members",xDescriptors={"urn:alm:descriptor:text"},order=11
	UpdatedMembers int32 `json:"updatedMembers,omitempty"`
	// clusterID is etcd's cluster ID in hexadecimal, set once a quorum has ever answered.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="etcd's cluster ID",xDescriptors={"urn:alm:descriptor:text"},order=14
	ClusterID string `json:"clusterID,omitempty"`
	// quorumLostSince is when the quorum was found lost; absent while there is one.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Quorum lost since",xDescriptors={"urn:alm:descriptor:text"},order=13
	QuorumLostSince *metav1.Time `json:"quorumLostSince,omitempty"`
	// restores are the EtcdRestores whose snapshots have replaced the data, the newest first.
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Restores []RestoreRecord `json:"restores,omitempty"`
	// keptVolumes hold what restores have replaced, but for those with safetySnapshot Skip, and what attempts at a restore were
	// written to before they were given up. The operator neither uses nor deletes them: delete them yourself (kubectl delete pvc)
	// once nobody needs what is on them. With the EtcdCluster they go, unless spec.volumeReclaimPolicy is Retain.
	// +listType=map
	// +listMapKey=uid
	// +optional
	KeptVolumes []KeptVolume `json:"keptVolumes,omitempty"`
	// operator is the one that acts on this EtcdCluster: no other does, as long as that one is there.
	// +optional
	Operator *OperatorReference `json:"operator,omitempty"`
	// selector selects the members' pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// internal is what the operator keeps for itself. It is no part of the API, and any release may change it: read nothing out of
	// it, and write nothing into it.
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
	// MemberStorageEmptyDir is a volume that goes with the pod.
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

// MemberRole is a member's part in the cluster.
type MemberRole string

// Member roles.
const (
	// MemberRoleNone is a pod that etcd does not list (yet, or any more).
	MemberRoleNone MemberRole = "None"
	// MemberRoleLearner is a member that copies the data and does not vote.
	MemberRoleLearner MemberRole = "Learner"
	// MemberRoleVoter is a member that votes.
	MemberRoleVoter MemberRole = "Voter"
)

// MemberStatus tells of one member.
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
	// leader is true for the member that leads.
	// +optional
	Leader bool `json:"leader,omitempty"`
	// ready is true for a voter that answers and follows a leader.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// version is the etcd version that it runs.
	// +optional
	Version string `json:"version,omitempty"`
	// updated is true when its pod is as the spec asks.
	// +optional
	Updated bool `json:"updated,omitempty"`
	// dbSize is the size of its database, rounded up.
	// +optional
	DBSize *resource.Quantity `json:"dbSize,omitempty"`
	// node is where its pod runs.
	// +optional
	Node string `json:"node,omitempty"`
	// message says what it waits for, empty if it is ready.
	// +optional
	Message string `json:"message,omitempty"`
}
