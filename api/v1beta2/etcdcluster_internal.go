package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// InternalStatus is the operator's own state of a cluster, which has to survive a restart of the operator. It is not part of the
// API, and any release may change it.
type InternalStatus struct {
	// acceptedSpec is the last valid spec. While the current one is invalid, the cluster is reconciled to this one. A spec
	// without a version means the one that is named here.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	AcceptedSpec *runtime.RawExtension `json:"acceptedSpec,omitempty"`
	// formerSpec is the spec of the members that an update in progress has not reached yet: a repair recreates them from it.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	FormerSpec *runtime.RawExtension `json:"formerSpec,omitempty"`
	// bootstrap is the record of the first start.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`
	// transport says which connections of the members use TLS; absent if none do.
	// +optional
	Transport *TransportStatus `json:"transport,omitempty"`
	// incarnations count the attempts at a start.
	// +optional
	Incarnations *IncarnationsStatus `json:"incarnations,omitempty"`
	// former is what a restore in progress replaces: the cluster returns to it if the restore is canceled. It is set from
	// the start of an attempt until the new cluster ID is set, or until the cluster has returned to it.
	// +optional
	Former *FormerStatus `json:"former,omitempty"`
	// nextVoters are the names of the voters after the membership change that is about to be made; absent if none is, or if it
	// needs no such record. A member list is trusted if a majority of the present voters confirms it, or a majority of these
	// if it lists them.
	// +listType=atomic
	// +optional
	NextVoters []string `json:"nextVoters,omitempty"`
	// revision is etcd's revision in coarse steps: a later answer with a lower one means lost data.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// snapshotDue is true after the members were updated from etcd 3.5 to 3.6, or data of 3.6 was adopted: their logs may
	// hold entries that etcd 3.7 cannot read, until each has written a snapshot. If it is absent from a cluster that has been
	// up, it is not recorded where its data comes from, and it counts as true.
	// +optional
	SnapshotDue *bool `json:"snapshotDue,omitempty"`
	// authorities are the SHA-256 fingerprints of the cluster's own authorities: no other one in Secret <name>-ca is used.
	// +listType=atomic
	// +optional
	Authorities []string `json:"authorities,omitempty"`
	// roots are the SHA-256 fingerprints of the authorities by which clients accept members. Of what else the Secrets of agents and
	// applications name, nothing is trusted.
	// +listType=atomic
	// +optional
	Roots []string `json:"roots,omitempty"`
	// ranBefore is true if coreos/etcd-operator has run this EtcdCluster and nothing has been started here yet: a cluster that
	// is started empty would be taken for that one.
	// +optional
	RanBefore bool `json:"ranBefore,omitempty"`
	// leaderMoved is the last time that leadership was moved off a member because its disk was slow.
	// +optional
	LeaderMoved *LeaderMoved `json:"leaderMoved,omitempty"`
	// quarantined is the member that is replaced because its data differs from what a majority of the voters agrees on.
	// +optional
	Quarantined *QuarantinedMember `json:"quarantined,omitempty"`
	// doubt is what comparisons have found of the voters' data and no later ones have disproved; absent if nothing is, and empty if only etcd's alarm
	// CORRUPT says that it differs.
	// +optional
	Doubt *DataDoubt `json:"doubt,omitempty"`
	// rootUser is what was done about etcd's user root; absent if nothing was.
	// +optional
	RootUser *InternalAuthStatus `json:"rootUser,omitempty"`
}

// QuarantinedMember is a member whose data differs from what a majority of the voters agrees on.
type QuarantinedMember struct {
	// memberID is its ID in etcd, in hexadecimal.
	// +required
	MemberID string `json:"memberID"`
	// name of the member.
	// +required
	Name string `json:"name"`
	// volumeUID is the UID of its volume, which is kept; absent if its data is on an emptyDir.
	// +optional
	VolumeUID string `json:"volumeUID,omitempty"`
}

// DataDoubt says that the voters' data differs, as far as no member is being replaced for that.
type DataDoubt struct {
	// suspect is the ID in etcd, in hexadecimal, of the voter that differs from a majority that agreed; absent if there is none.
	// +optional
	Suspect string `json:"suspect,omitempty"`
	// split is true if no majority agrees from which exactly one voter differs.
	// +optional
	Split bool `json:"split,omitempty"`
}

// LeaderMoved says whose disk was too slow to lead, and when.
type LeaderMoved struct {
	// member is the one that led.
	Member string `json:"member"`
	// moveTime is when leadership moved. It is not moved again because of a disk within five minutes.
	MoveTime metav1.Time `json:"moveTime"`
}

// TransportStatus says which connections of a cluster's members use TLS. It is recorded with the attempt to start, because the
// members' IDs and URLs follow from it.
type TransportStatus struct {
	// peerTLS is true if members are told to connect to each other over TLS.
	// +optional
	PeerTLS bool `json:"peerTLS,omitempty"`
	// clientTLS is true if clients are told to use TLS.
	// +optional
	ClientTLS bool `json:"clientTLS,omitempty"`
	// clientBoth is true while members serve clients with and without TLS.
	// +optional
	ClientBoth bool `json:"clientBoth,omitempty"`
	// clientUntold is true while clients were never told to use the other one of both, so that it can be given up at once.
	// +optional
	ClientUntold bool `json:"clientUntold,omitempty"`
	// peerBoth is true while members serve each other with and without TLS.
	// +optional
	PeerBoth bool `json:"peerBoth,omitempty"`
	// peerUntold is true while members were never told to use the other one of both for each other.
	// +optional
	PeerUntold bool `json:"peerUntold,omitempty"`
	// peerPort is the port of the scheme that members are told to use for each other, if it is not 2380.
	// +optional
	PeerPort int32 `json:"peerPort,omitempty"`
}

// BootstrapStatus is the write-ahead record of the first start: it is written before anything that depends on it.
type BootstrapStatus struct {
	// incarnation is the number of the attempt, from 1.
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
	// seats are the pods that may start etcd with an empty data directory.
	// +listType=map
	// +listMapKey=name
	// +optional
	Seats []BootstrapSeat `json:"seats,omitempty"`
	// restore is the UID of the EtcdRestore whose snapshot the first member starts from; absent for an empty start.
	// +optional
	Restore string `json:"restore,omitempty"`
	// recovery is true if that snapshot is a survivor's, taken without a quorum: no new member starts before all previous pods are
	// gone for certain.
	// +optional
	Recovery bool `json:"recovery,omitempty"`
}

// BootstrapSeat binds an initial member to the one pod, and volume, that may start it with an empty data directory.
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

// IncarnationsStatus counts the attempts at a start, empty or from a snapshot. No number is used twice, so no two attempts have
// the same token or cluster ID.
type IncarnationsStatus struct {
	// last is the highest number used so far.
	// +required
	Last int32 `json:"last"`
	// attempts is not a count: it is the lowest incarnation of an attempt at a restore that replaces the present data, 0 if there
	// was none. Of the incarnations from there on, all but bootstrap.incarnation were abandoned.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// FormerStatus is the status of the cluster that a restore replaces, as it was when that started. A field means the same as the
// one of its name in the status.
type FormerStatus struct {
	// clusterID is empty if the cluster had never been up.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// revision is the highest that was recorded.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// size is the number of members.
	// +optional
	Size int32 `json:"size,omitempty"`
	// memberStatuses are its members.
	// +listType=map
	// +listMapKey=name
	// +optional
	MemberStatuses []MemberStatus `json:"memberStatuses,omitempty"`
	// nextVoters are the voters after a membership change that was in progress.
	// +listType=atomic
	// +optional
	NextVoters []string `json:"nextVoters,omitempty"`
	// ranBefore is true if coreos/etcd-operator had run it, and nothing was started here.
	// +optional
	RanBefore bool `json:"ranBefore,omitempty"`
	// currentVersion is the etcd version that it ran.
	// +optional
	CurrentVersion string `json:"currentVersion,omitempty"`
	// snapshotDue says what its logs may hold.
	// +optional
	SnapshotDue *bool `json:"snapshotDue,omitempty"`
	// spec is what its members were created from.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	Spec *runtime.RawExtension `json:"spec,omitempty"`
	// leaderMoved is when its leader was last moved because of a slow disk.
	// +optional
	LeaderMoved *LeaderMoved `json:"leaderMoved,omitempty"`
	// bootstrap is the record of its first start; absent if it was adopted, or never started.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`
	// transport says which of its connections use TLS.
	// +optional
	Transport *TransportStatus `json:"transport,omitempty"`
	// quarantined is its member whose data differed from what a majority of the voters agreed on.
	// +optional
	Quarantined *QuarantinedMember `json:"quarantined,omitempty"`
	// doubt is what comparisons had found of its voters' data and no later ones had disproved; absent if nothing was, and empty if only etcd's alarm
	// CORRUPT had told that it differs.
	// +optional
	Doubt *DataDoubt `json:"doubt,omitempty"`
}
