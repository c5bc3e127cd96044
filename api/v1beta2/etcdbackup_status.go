package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdBackupStatus tells how the backups went.
//
// +kubebuilder:pruning:PreserveUnknownFields
type EtcdBackupStatus struct {
	// succeeded is true when the last backup did.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Succeeded",xDescriptors={"urn:alm:descriptor:text"},order=1
	Succeeded bool `json:"succeeded,omitempty"`
	// reason says why the last backup failed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Reason",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase:reason"},order=2
	Reason string `json:"reason,omitempty"`
	// Reason is what coreos/etcd-operator called reason: it says the same. New readers go by reason.
	// +optional
	LegacyReason string `json:"Reason,omitempty"`
	// etcdVersion is the version of the etcd that was backed up last.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="etcd version",xDescriptors={"urn:alm:descriptor:text"},order=6
	EtcdVersion string `json:"etcdVersion,omitempty"`
	// etcdRevision is the revision of the last good backup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Revision",xDescriptors={"urn:alm:descriptor:text"},order=7
	EtcdRevision int64 `json:"etcdRevision,omitempty"`
	// lastSuccessDate is when the last good backup was taken. Objects of coreos/etcd-operator hold null for never.
	// +nullable
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Last success",xDescriptors={"urn:alm:descriptor:text"},order=3
	LastSuccessDate *metav1.Time `json:"lastSuccessDate,omitempty"`

	// nextScheduleTime is when the next backup is due; absent if none is.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Next",xDescriptors={"urn:alm:descriptor:text"},order=5
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`
	// lastScheduleTime is when the last backup was due, whether it succeeded or not.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
	// run is the backup that is under way.
	// +optional
	Run *BackupRun `json:"run,omitempty"`
	// snapshots are the latest ones in the storage, the newest first. One that is stale, or was not checked as spec.verify asks
	// (verificationTime is absent), is among them, and counts as no success.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Snapshots []SnapshotStatus `json:"snapshots,omitempty"`
	// snapshotCount is how many this EtcdBackup had in the storage after the last good one, those that are stale or were not
	// checked among them.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Snapshots",xDescriptors={"urn:alm:descriptor:text"},order=4
	SnapshotCount int32 `json:"snapshotCount,omitempty"`
	// lineages are whose data these are, by etcd cluster ID: that of the last backup first. A cluster that is created
	// anew, or restored, begins another one.
	// +listType=map
	// +listMapKey=clusterID
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Lineages []BackupLineage `json:"lineages,omitempty"`
	// operator is the one that acts on this EtcdBackup: no other does, as long as that one is there.
	// +optional
	Operator *OperatorReference `json:"operator,omitempty"`
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions tell what is going on.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Conditions",xDescriptors={"urn:alm:descriptor:io.kubernetes.conditions"},order=9
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BackupLineage is the snapshots of one etcd cluster ID.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BackupLineage struct {
	// clusterID is etcd's cluster ID in hexadecimal.
	// +required
	ClusterID string `json:"clusterID"`
	// cluster is namespace and name of the EtcdCluster; empty if it was none.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// count is how many there are of this EtcdBackup.
	// +required
	Count int32 `json:"count"`
	// name of the newest object, without the prefix.
	// +required
	Name string `json:"name"`
	// revision of the newest.
	// +required
	Revision int64 `json:"revision"`
	// creationTime is when the newest was taken.
	// +optional
	CreationTime metav1.Time `json:"creationTime,omitzero"`
}

// BackupTask is what a run does: Backup takes one, Clean deletes all when the EtcdBackup goes.
//
// +kubebuilder:validation:Enum=Backup;Clean
type BackupTask string

// Tasks of a run.
const (
	BackupTaskBackup BackupTask = "Backup"
	BackupTaskClean  BackupTask = "Clean"
)

// BackupRun is a backup that is under way.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BackupRun struct {
	// task is what it does.
	// +required
	Task BackupTask `json:"task"`
	// scheduleTime is when it was due. It names the run.
	// +optional
	ScheduleTime metav1.Time `json:"scheduleTime,omitzero"`
	// generation of the spec that this try began with.
	// +required
	Generation int64 `json:"generation"`
	// startTime is when its first try began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	AgentRun `json:",inline"`
}

// AgentRun is one task of a pod, which is tried until it succeeds or is given up.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AgentRun struct {
	// attempt counts the tries, from 1.
	// +required
	Attempt int32 `json:"attempt"`
	// attemptStartTime is when this try began.
	// +optional
	AttemptStartTime metav1.Time `json:"attemptStartTime,omitzero"`
	// retryTime is when the next try may begin, after one that failed.
	// +optional
	RetryTime *metav1.Time `json:"retryTime,omitempty"`
	// unanswered is how many tries to save what a cluster holds, before it is restored, have reached no member. Only if none
	// has reached any it is replaced unsaved.
	// +optional
	Unanswered int32 `json:"unanswered,omitempty"`
	// pod does the work.
	// +required
	Pod string `json:"pod"`
	// step is what the pod is at.
	// +optional
	Step string `json:"step,omitempty"`
	// bytes that the step has moved.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
}

// SnapshotStatus is a snapshot in the storage.
//
// +kubebuilder:pruning:PreserveUnknownFields
type SnapshotStatus struct {
	// name of the object, without the prefix.
	// +required
	Name string `json:"name"`
	// url of the object.
	// +required
	URL string `json:"url"`
	// cluster is whose data it is: namespace and name of the EtcdCluster, or etcd's cluster ID in hexadecimal if it was none;
	// empty if nothing says so.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// clusterID is etcd's cluster ID in hexadecimal. It names the lineage of the data: a cluster that is created anew, or
	// restored, has another one, whatever its name. Empty if nothing says so.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// stale is true if it was taken from a member without a quorum at its back: the cluster may have gone on without it.
	// +optional
	Stale bool `json:"stale,omitempty"`
	// revision of etcd.
	// +required
	Revision int64 `json:"revision"`
	// etcdVersion is the version of the server that it was taken from.
	// +required
	EtcdVersion string `json:"etcdVersion"`
	// sizeBytes is the size of the database, in bytes.
	// +optional
	SizeBytes int64 `json:"sizeBytes"`
	// storedSizeBytes is the size of the object, in bytes.
	// +optional
	StoredSizeBytes int64 `json:"storedSizeBytes"`
	// sha256 of the object, in hexadecimal.
	// +required
	SHA256 string `json:"sha256"`
	// creationTime is when it was taken.
	// +optional
	CreationTime metav1.Time `json:"creationTime,omitzero"`
	// verificationTime is when it was checked last, as verification says; absent if it never was.
	// +optional
	VerificationTime *metav1.Time `json:"verificationTime,omitempty"`
	// verification is how it was checked.
	// +optional
	Verification Verification `json:"verification,omitempty"`
}
