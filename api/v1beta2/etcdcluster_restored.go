package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RestoreRecord says which snapshot has replaced the data. It is written before anything is done for it, and an EtcdRestore
// that has one is never carried out again.
type RestoreRecord struct {
	// uid of the EtcdRestore.
	// +required
	UID string `json:"uid"`
	// name of the EtcdRestore.
	// +required
	Name string `json:"name"`
	// snapshot is the object that was restored.
	// +required
	Snapshot string `json:"snapshot"`
	// sourceClusterID is the etcd cluster ID, in hexadecimal, whose snapshot it is: the lineage that the data descends from.
	// Empty if nothing says so.
	// +optional
	SourceClusterID string `json:"sourceClusterID,omitempty"`
	// sourceRevision is the snapshot's revision.
	// +optional
	SourceRevision int64 `json:"sourceRevision,omitempty"`
	// revisionFloor is the highest revision that clients can have seen of the data that was replaced, as far as is known: the
	// restored data begins far above it. 0 if there was none.
	// +optional
	RevisionFloor int64 `json:"revisionFloor,omitempty"`
	// startedAt is when the operator began.
	// +required
	StartedAt metav1.Time `json:"startedAt"`
	// completedAt is when a quorum of the members asked for first ran on the restored data; absent until then.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// skipped is true if the EtcdRestore said that nothing needs to be saved.
	// +optional
	Skipped bool `json:"skipped,omitempty"`
	// stoppedAt is when fewer of the members that are replaced were left than a quorum: from then on nobody could write to
	// them. Absent until then.
	// +optional
	StoppedAt *metav1.Time `json:"stoppedAt,omitempty"`
	// unsaved says why what was replaced, or the last of it, was not saved before: its volumes are kept. Empty if it was
	// saved, if there was nothing to save, or if the EtcdRestore said not to.
	// +optional
	Unsaved string `json:"unsaved,omitempty"`
	// safetySnapshot is the object in which what was replaced was saved before; empty if it was not.
	// +optional
	SafetySnapshot string `json:"safetySnapshot,omitempty"`
	// calledOff is there once the restore has come to nothing. Either it was called off, and the cluster goes back to what it was
	// before; or a later restore has taken its place (RestoreSuperseded), and replaces the same data.
	// +optional
	CalledOff *RestoreCalledOff `json:"calledOff,omitempty"`
	// notCalledOff says why the restore goes on although it was to be called off: too few of the former members could come back
	// then. Empty if nobody wanted that.
	// +optional
	NotCalledOff string `json:"notCalledOff,omitempty"`
}

// RestoreCalledOff says why a restore came to nothing before the cluster was up on the snapshot.
type RestoreCalledOff struct {
	// reason is the reason of the EtcdRestore's condition.
	// +required
	Reason string `json:"reason"`
	// message says what happened.
	// +required
	Message string `json:"message"`
	// at is when the cluster began to go back, or the later restore began.
	// +required
	At metav1.Time `json:"at"`
	// resumedAt is when a quorum of the former members answered again; absent until then, and where a later restore took this
	// one's place.
	// +optional
	ResumedAt *metav1.Time `json:"resumedAt,omitempty"`
}

// IncarnationsStatus counts the attempts at a start, from nothing or from a snapshot. No number is given twice, so that no two
// attempts have the same token or cluster ID.
type IncarnationsStatus struct {
	// last is the highest number that was ever given.
	// +required
	Last int32 `json:"last"`
	// attempts is the lowest number of an attempt at a restore of what the cluster holds, 0 if there was none: what was made for
	// one from there on, other than bootstrap.incarnation, holds nobody's data.
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
	SnapshotDue bool `json:"snapshotDue,omitempty"`
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

// KeptVolume is a PersistentVolumeClaim whose data a restore has replaced unsaved. It goes with the EtcdCluster, unless
// spec.volumeReclaimPolicy is Retain.
type KeptVolume struct {
	// name of the claim.
	// +required
	Name string `json:"name"`
	// uid of the claim.
	// +required
	UID string `json:"uid"`
	// restore is the name of the EtcdRestore.
	// +required
	Restore string `json:"restore"`
}
