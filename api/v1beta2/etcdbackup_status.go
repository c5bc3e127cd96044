package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdBackupStatus is the state of the backups.
//
// +kubebuilder:pruning:PreserveUnknownFields
type EtcdBackupStatus struct {
	// succeeded is true if the last backup succeeded.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Succeeded",xDescriptors={"urn:alm:descriptor:text"},order=1
	Succeeded bool `json:"succeeded,omitempty"`
	// reason says why the last backup failed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Reason",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase:reason"},order=2
	Reason string `json:"reason,omitempty"`
	// Reason is coreos/etcd-operator's name of reason, with the same value. Read reason in new clients.
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
	// run is the backup in progress.
	// +optional
	Run *BackupRun `json:"run,omitempty"`
	// snapshots are the latest ones in the storage, the newest first, including those that are stale or were not verified as
	// spec.verify says (verificationTime is absent), which do not count as successful.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Snapshots []SnapshotStatus `json:"snapshots,omitempty"`
	// snapshotCount is the number of this EtcdBackup's snapshots in the storage after the last good one, including those that are
	// stale or were not verified.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Snapshots",xDescriptors={"urn:alm:descriptor:text"},order=4
	SnapshotCount int32 `json:"snapshotCount,omitempty"`
	// lineages group the snapshots by etcd cluster ID, that of the last backup first. A cluster that is recreated, or restored,
	// starts another lineage.
	// +listType=map
	// +listMapKey=clusterID
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Lineages []BackupLineage `json:"lineages,omitempty"`
	// operator is the one that reconciles this EtcdBackup: no other does while that one is running.
	// +optional
	Operator *OperatorReference `json:"operator,omitempty"`
	// observedGeneration is the generation of the spec that this status is based on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions describe the state.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Conditions",xDescriptors={"urn:alm:descriptor:io.kubernetes.conditions"},order=9
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BackupLineage summarizes the snapshots of one etcd cluster ID.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BackupLineage struct {
	// clusterID is etcd's cluster ID in hexadecimal.
	// +required
	ClusterID string `json:"clusterID"`
	// cluster is namespace and name of the EtcdCluster; empty if it was not an EtcdCluster.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// count is the number of this EtcdBackup's snapshots.
	// +required
	Count int32 `json:"count"`
	// name of the newest object, without the prefix.
	// +required
	Name string `json:"name"`
	// revision of etcd when the newest was started.
	// +required
	Revision int64 `json:"revision"`
	// creationTime is when the newest was taken.
	// +optional
	CreationTime metav1.Time `json:"creationTime,omitzero"`
}

// BackupTask is what a run does: Backup takes a backup, Clean deletes all of them when the EtcdBackup is deleted.
//
// +kubebuilder:validation:Enum=Backup;Clean
type BackupTask string

// Tasks of a run.
const (
	BackupTaskBackup BackupTask = "Backup"
	BackupTaskClean  BackupTask = "Clean"
)

// BackupRun is a backup in progress.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BackupRun struct {
	// task is what it does.
	// +required
	Task BackupTask `json:"task"`
	// scheduleTime is when it was due. It identifies the run.
	// +optional
	ScheduleTime metav1.Time `json:"scheduleTime,omitzero"`
	// generation of the spec that this attempt started with.
	// +required
	Generation int64 `json:"generation"`
	// startTime is when its first attempt started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	AgentRun `json:",inline"`
}

// AgentRun is one task of a pod, which is retried until it succeeds or is given up.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AgentRun struct {
	// attempt is the number of the attempt, from 1.
	// +required
	Attempt int32 `json:"attempt"`
	// attemptStartTime is when this attempt started.
	// +optional
	AttemptStartTime metav1.Time `json:"attemptStartTime,omitzero"`
	// retryTime is when the next attempt may start, after one that failed.
	// +optional
	RetryTime *metav1.Time `json:"retryTime,omitempty"`
	// unanswered is how many attempts to save a cluster's data, before it is restored, have reached no member. The data is
	// replaced without being saved only if none has reached any.
	// +optional
	Unanswered int32 `json:"unanswered,omitempty"`
	// pod does the work.
	// +required
	Pod string `json:"pod"`
	// step is what the pod is doing.
	// +optional
	Step string `json:"step,omitempty"`
	// bytes that the step has transferred.
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
	// cluster is where the data is from: namespace and name of the EtcdCluster, or etcd's cluster ID in hexadecimal if it was not
	// an EtcdCluster; empty if unknown.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// clusterID is etcd's cluster ID in hexadecimal. It identifies the lineage of the data: a cluster that is recreated, or
	// restored, has another one, whatever its name. Empty if unknown.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// stale is true if it was taken from a member without quorum: the cluster may have accepted writes that it lacks.
	// +optional
	Stale bool `json:"stale,omitempty"`
	// revision of etcd when the snapshot was started. Writes made while it was taken may be in it, too.
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
	// verificationTime is when it was last verified, as verification says; absent if it never was.
	// +optional
	VerificationTime *metav1.Time `json:"verificationTime,omitempty"`
	// verification is how it was verified. Ciphertext is what Checksum does for one that is encrypted to recipients: the object was
	// compared with what was uploaded, and not decrypted.
	// +kubebuilder:validation:Enum=None;Ciphertext;Checksum;Restore
	// +optional
	Verification Verification `json:"verification,omitempty"`
}
