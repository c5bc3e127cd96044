package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// InternalStatus is what the operator keeps for itself of a cluster: what has to outlive a restart of it. It is no part of the
// API, and any release may change it.
type InternalStatus struct {
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
	// bootstrap is the record of the first start.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`
	// incarnations count the attempts at a start.
	// +optional
	Incarnations *IncarnationsStatus `json:"incarnations,omitempty"`
	// former is what a restore under way replaces: the cluster goes back to it if the restore is called off. It is there from
	// the beginning of an attempt until the new cluster ID is set, or until it was gone back to.
	// +optional
	Former *FormerStatus `json:"former,omitempty"`
	// nextVoters are the names of the voters after the change of them that is about to be made; absent if none is, or if it
	// needs no such note. A member list is believed that a majority of the present voters confirms, or of these if it is
	// theirs.
	// +listType=atomic
	// +optional
	NextVoters []string `json:"nextVoters,omitempty"`
	// revision is etcd's revision in coarse steps: a later answer with a lower one means lost data.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// snapshotDue is true since the members went from etcd 3.5 to 3.6, or since data of 3.6 was taken up: their logs may
	// hold entries that etcd 3.7 cannot read, until each has written a snapshot since. Where it is absent of a cluster that was
	// up, nobody has noted where its data comes from, and it counts as true.
	// +optional
	SnapshotDue *bool `json:"snapshotDue,omitempty"`
	// ranBefore is true while nothing was started here yet under an object under which coreos/etcd-operator has run a
	// cluster: one that is started from nothing would be taken for that.
	// +optional
	RanBefore bool `json:"ranBefore,omitempty"`
	// leaderMoved is the last time that leadership was taken from a member because its disk was slow.
	// +optional
	LeaderMoved *LeaderMoved `json:"leaderMoved,omitempty"`
}

// LeaderMoved says whose disk was too slow to lead, and when.
type LeaderMoved struct {
	// member is the one that led.
	Member string `json:"member"`
	// moveTime is when it handed over. No leader is moved because of a disk again within five minutes.
	MoveTime metav1.Time `json:"moveTime"`
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

// IncarnationsStatus counts the attempts at a start, from nothing or from a snapshot. No number is given twice, so that no two
// attempts have the same token or cluster ID.
type IncarnationsStatus struct {
	// last is the highest number that was ever given.
	// +required
	Last int32 `json:"last"`
	// attempts is the lowest number of an attempt at a restore of what the cluster holds, 0 if there was none: what was made for
	// one from there on, other than bootstrap.incarnation, was given up.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// FormerStatus is what status tells of the cluster that a restore replaces, as it was when that began. A field says the same
// as the one of its name in the status.
type FormerStatus struct {
	// clusterID is empty if the cluster had never been up.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// revision is the highest that was noted.
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
	// nextVoters are the voters after a change of the membership that was under way.
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
	// spec is what its members were made from.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	// +optional
	Spec *runtime.RawExtension `json:"spec,omitempty"`
	// leaderMoved is when a slow disk last moved its leader.
	// +optional
	LeaderMoved *LeaderMoved `json:"leaderMoved,omitempty"`
	// bootstrap is the record of its first start; absent if it was adopted, or never began.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`
}
