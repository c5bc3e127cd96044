package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RestoreRecord says which snapshot has replaced the data. It is written before the restore changes anything, and an EtcdRestore
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
	// sourceClusterID is the etcd cluster ID of the snapshot, in hexadecimal: the lineage that the data descends from. Empty
	// if unknown.
	// +optional
	SourceClusterID string `json:"sourceClusterID,omitempty"`
	// sourceRevision is the snapshot's revision.
	// +optional
	SourceRevision int64 `json:"sourceRevision,omitempty"`
	// revisionFloor is the highest revision that clients can have seen of the replaced data, as far as known: the restored data
	// starts far above it. 0 if there was none.
	// +optional
	RevisionFloor int64 `json:"revisionFloor,omitempty"`
	// startTime is when the operator started to replace the data.
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"`
	// completionTime is when a quorum of the members asked for first ran on the restored data; absent until then.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// replacedClusterID is the etcd cluster ID, in hexadecimal, of the replaced data. Empty if there was none.
	// +optional
	ReplacedClusterID string `json:"replacedClusterID,omitempty"`
	// skipped is true if the EtcdRestore, and those that it superseded, had safetySnapshot Skip: then the volumes with data of
	// replacedClusterID are deleted. All others are kept (keptVolumes of the status).
	// +optional
	Skipped bool `json:"skipped,omitempty"`
	// unsaved says why the safety snapshot may lack some of the replaced data. Empty if nothing is known to be missing, if there
	// was nothing to save, or if safetySnapshot is Skip. What clients wrote after the safety snapshot, until the last member had
	// stopped, is on the members' volumes, or lost with an emptyDir, and is not mentioned here.
	// +optional
	Unsaved string `json:"unsaved,omitempty"`
	// safetySnapshot is the object that the replaced data was saved to; empty if it was not.
	// +optional
	SafetySnapshot string `json:"safetySnapshot,omitempty"`
	// calledOff is set once the restore has been abandoned: either it was canceled, and the cluster returns to its previous
	// data; or a later restore has superseded it (RestoreSuperseded), and replaces the same data.
	// +optional
	CalledOff *RestoreCalledOff `json:"calledOff,omitempty"`
	// notCalledOff says why the restore continues although it was to be canceled: too few of the previous members could come
	// back. Empty otherwise.
	// +optional
	NotCalledOff string `json:"notCalledOff,omitempty"`
}

// RestoreCalledOff says why a restore was abandoned before the cluster was up on the snapshot.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RestoreCalledOff struct {
	// reason is the reason of the EtcdRestore's condition.
	// +required
	Reason string `json:"reason"`
	// message says what happened.
	// +required
	Message string `json:"message"`
	// startTime is when the cluster started to return to its previous data, or when the later restore started.
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"`
	// completionTime is when the previous members had quorum again; absent until then, and if a later restore superseded this
	// one.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// KeptVolume is a PersistentVolumeClaim whose data a restore has replaced, or on which an abandoned attempt at one had started
// etcd, or of a member whose data differed from the others'. It is deleted with the EtcdCluster, unless spec.volumeReclaimPolicy is
// Retain.
type KeptVolume struct {
	// name of the PersistentVolumeClaim.
	// +required
	Name string `json:"name"`
	// uid of the PersistentVolumeClaim.
	// +required
	UID string `json:"uid"`
	// restore is the name of the EtcdRestore; absent if the volume is of a member whose data differed from the others'.
	// +optional
	Restore string `json:"restore,omitempty"`
}
