package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RestoreRecord says which snapshot has replaced the data. It is written before anything is done for it, and an EtcdRestore
// that has one is never carried out again.
//
// +kubebuilder:pruning:PreserveUnknownFields
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
	// startTime is when the operator began.
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"`
	// completionTime is when a quorum of the members asked for first ran on the restored data; absent until then.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// replacedClusterID is the etcd cluster ID, in hexadecimal, of what was replaced. Empty if there was none.
	// +optional
	ReplacedClusterID string `json:"replacedClusterID,omitempty"`
	// skipped is true if the EtcdRestore said that nothing needs to be saved, and so did those whose place it took: the volumes
	// that hold data of replacedClusterID are deleted then. All others are kept (keptVolumes of the status).
	// +optional
	Skipped bool `json:"skipped,omitempty"`
	// unsaved says why not all of what was replaced is known to be in the safety snapshot. Empty if nothing is known to be
	// missing, if there was nothing to save, or if the EtcdRestore said not to. Clients can have written until the last member
	// had stopped: that is on its volume, and gone with an emptyDir, and nothing here tells of it.
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
//
// +kubebuilder:pruning:PreserveUnknownFields
type RestoreCalledOff struct {
	// reason is the reason of the EtcdRestore's condition.
	// +required
	Reason string `json:"reason"`
	// message says what happened.
	// +required
	Message string `json:"message"`
	// startTime is when the cluster began to go back, or the later restore began.
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"`
	// completionTime is when a quorum of the former members answered again; absent until then, and where a later restore took
	// this one's place.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// KeptVolume is a PersistentVolumeClaim whose data a restore has replaced, or on which an attempt at one that was given up had
// started etcd. It goes with the EtcdCluster, unless spec.volumeReclaimPolicy is Retain.
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
