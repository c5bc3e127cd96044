package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	// readyMembers is the number of voters that are ready of those that etcd lists, for example 3/3.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Ready members",xDescriptors={"urn:alm:descriptor:text"},order=4
	ReadyMembers string `json:"readyMembers,omitempty"`
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
	// nextVoters are the names of the voters after the change of them that is about to be made; absent if none is, or if it
	// needs no such note. A member list is believed that a majority of the present voters confirms, or of these if it is
	// theirs.
	// +listType=atomic
	// +optional
	NextVoters []string `json:"nextVoters,omitempty"`
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
	// snapshotDue is true since the members went from etcd 3.5 to 3.6: their logs may hold entries that etcd 3.7 cannot
	// read, until each has written a snapshot since.
	// +optional
	SnapshotDue bool `json:"snapshotDue,omitempty"`
	// updatedMembers is the number of members whose pods are as the spec asks.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Updated members",xDescriptors={"urn:alm:descriptor:text"},order=11
	UpdatedMembers int32 `json:"updatedMembers,omitempty"`
	// acceptedSpec is the last spec that could be carried out. While the current one cannot, the cluster is cared for as
	// this one asks. A spec without a version means the one that is named here.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	AcceptedSpec *runtime.RawExtension `json:"acceptedSpec,omitempty"`
	// formerSpec is what the members are made from that an update under way has not reached: a repair does not spread it.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	FormerSpec *runtime.RawExtension `json:"formerSpec,omitempty"`
	// clusterID is etcd's cluster ID in hexadecimal, set once a quorum has ever answered.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="etcd's cluster ID",xDescriptors={"urn:alm:descriptor:text"},order=14
	ClusterID string `json:"clusterID,omitempty"`
	// revision is etcd's revision in coarse steps: a later answer with a lower one means lost data.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// quorumLostSince is when the quorum was found lost; absent while there is one.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Quorum lost since",xDescriptors={"urn:alm:descriptor:text"},order=13
	QuorumLostSince *metav1.Time `json:"quorumLostSince,omitempty"`
	// ranBefore is true while nothing was started here yet under an object under which coreos/etcd-operator has run a
	// cluster: one that is started from nothing would be taken for that.
	// +optional
	RanBefore bool `json:"ranBefore,omitempty"`
	// leaderMoved is the last time that leadership was taken from a member because its disk was slow.
	// +optional
	LeaderMoved *LeaderMoved `json:"leaderMoved,omitempty"`
	// bootstrap is the record of the first start.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`
	// restores are the EtcdRestores whose snapshots have replaced the data, the newest first.
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Restores []RestoreRecord `json:"restores,omitempty"`
	// incarnations count the attempts at a start.
	// +optional
	Incarnations *IncarnationsStatus `json:"incarnations,omitempty"`
	// former is what a restore under way replaces: the cluster goes back to it if the restore is called off. It is there from
	// the beginning of an attempt until the new cluster ID is set, or until it was gone back to.
	// +optional
	Former *FormerStatus `json:"former,omitempty"`
	// keptVolumes hold data that was replaced and is not known to be all in a safety snapshot. The operator never uses nor deletes
	// them: delete them yourself once nobody needs what is on them. With the EtcdCluster they go, unless spec.volumeReclaimPolicy
	// is Retain.
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

// LeaderMoved says whose disk was too slow to lead, and when.
type LeaderMoved struct {
	// member is the one that led.
	Member string `json:"member"`
	// time is when it handed over. No leader is moved because of a disk again within five minutes.
	Time metav1.Time `json:"time"`
}

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

// BootstrapStatus is the write-ahead record of the first start: it is written before anything that depends on it.
type BootstrapStatus struct {
	// incarnation counts the attempts, from 1.
	// +required
	Incarnation int32 `json:"incarnation"`
	// token is etcd's initial-cluster-token.
	// +required
	Token string `json:"token"`
	// members are the names of the first voters.
	// +listType=atomic
	// +required
	Members []string `json:"members"`
	// clusterID is what etcd's cluster ID will be, in hexadecimal.
	// +required
	ClusterID string `json:"clusterID"`
	// seats are the pods that may start etcd from nothing.
	// +listType=map
	// +listMapKey=name
	// +optional
	Seats []BootstrapSeat `json:"seats,omitempty"`
	// restore is the UID of the EtcdRestore whose snapshot the first member starts from; absent for a start from nothing.
	// +optional
	Restore string `json:"restore,omitempty"`
}

// BootstrapSeat binds a first member to the one pod, and volume, that may start it from nothing.
type BootstrapSeat struct {
	// name of the member.
	// +required
	Name string `json:"name"`
	// podUID is the pod's UID.
	// +required
	PodUID string `json:"podUID"`
	// volumeUID is the PersistentVolumeClaim's UID, empty for an emptyDir.
	// +optional
	VolumeUID string `json:"volumeUID,omitempty"`
}
