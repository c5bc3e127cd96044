package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RestoreSource says which snapshot is restored.
//
// +kubebuilder:validation:XValidation:rule="[has(self.backup), has(self.storage), has(self.backupStorageType)].filter(given, given).size() == 1",message="say from where, in one way: backup, storage, or backupStorageType with its stanza"
// +kubebuilder:validation:XValidation:rule="!has(self.backupStorageType) || has(self.s3) && self.backupStorageType == 'S3' || has(self.abs) && self.backupStorageType == 'ABS' || has(self.gcs) && self.backupStorageType == 'GCS' || has(self.oss) && self.backupStorageType == 'OSS'",message="give the storage that backupStorageType names: s3, abs, gcs or oss"
// +kubebuilder:validation:XValidation:rule="!has(self.snapshot) || !has(self.before)",message="give snapshot or before, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.snapshot) || !has(self.clusterID)",message="give snapshot or clusterID, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.backupStorageType) || !has(self.snapshot) && !has(self.before) && !has(self.clusterID)",message="snapshot, before and clusterID choose among the snapshots of backup or storage: a path of backupStorageType is one snapshot"
type RestoreSource struct {
	// backup is the EtcdBackup that wrote the snapshot: its storage and its keys are used.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="EtcdBackup",order=20
	Backup *EtcdBackupRef `json:"backup,omitempty"`
	// storage is where snapshots are, by URL.
	// +kubebuilder:validation:XValidation:rule="!has(self.secret) && !has(self.caSecret)",message="storage.secret is called credentialsSecretRef.name now, and storage.caSecret caBundleRef.name"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Storage",order=21
	Storage *Storage `json:"storage,omitempty"`
	// backupStorageType says which of s3, abs, gcs and oss is set; its path is the object itself.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Type of storage (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	BackupStorageType StorageType `json:"backupStorageType,omitempty"`

	BackupStorage `json:",inline"`

	// snapshot is the object's name below the URL. Without it the latest one is restored: if that is damaged the restore fails
	// without changing anything, and the message names the latest good one.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Snapshot",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=22
	Snapshot string `json:"snapshot,omitempty"`
	// before restores the latest snapshot that was taken before that time. If that is damaged the restore fails without changing
	// anything.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Taken before",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=23
	Before *metav1.Time `json:"before,omitempty"`
	// clusterID is the etcd cluster ID, in hexadecimal, whose latest snapshot is restored, if the storage holds snapshots of
	// several lineages: status.lineages of the EtcdBackup, and the message of the reason SeveralLineages, list them.
	// +kubebuilder:validation:Pattern=`^[0-9a-fA-F]{1,16}$`
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Cluster ID of the data",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"},order=23
	ClusterID string `json:"clusterID,omitempty"`
	// encryptionSecretRef names a Secret whose key passphrase decrypts the object; by default that of the EtcdBackup in backup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Passphrase",order=24
	EncryptionSecretRef SecretRef `json:"encryptionSecretRef,omitzero"`
	// encryptionSecret is what encryptionSecretRef was called before the first release. An object that has it since then is not
	// carried out, and no other is taken: without the field the API server would leave it out, and nobody would know.
	// +kubebuilder:validation:XValidation:rule="self == ''",message="encryptionSecret is called encryptionSecretRef.name now"
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Passphrase (former name)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	FormerEncryptionSecret string `json:"encryptionSecret,omitempty"`
}

// EtcdRestoreSpec says which snapshot is restored into which cluster.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="an EtcdRestore is carried out once, as it was created: create another one"
type EtcdRestoreSpec struct {
	// etcdCluster is the cluster whose data is replaced. It is not changed before the snapshot was read completely and
	// verified. To start a new cluster from a snapshot, use spec.restoreFrom of the EtcdCluster.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Cluster to restore into",order=0
	EtcdCluster EtcdClusterRef `json:"etcdCluster"`

	RestoreSource `json:",inline"`

	// safetySnapshot says whether the data that is replaced is saved first, next to the snapshot, if any of it can be read. With
	// Skip the volumes of the replaced data are deleted once the cluster matches its spec; otherwise they are kept until you
	// delete them (status.keptVolumes of the EtcdCluster).
	// +kubebuilder:default=Take
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Save what the cluster holds",order=25
	SafetySnapshot SafetySnapshot `json:"safetySnapshot,omitempty"`
	// timeoutSeconds is how long one attempt to read the snapshot, or to save the cluster's data, may take; 3600 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3153600000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Time-out in seconds",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"},order=27
	TimeoutSeconds int64 `json:"timeoutSeconds,omitempty"`
	// pod configures the pods that read and verify the snapshot.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pods that do the work",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=28
	Pod *AgentPodPolicy `json:"pod,omitempty"`
}

// SafetySnapshot says whether data is saved before it is replaced: with Take the restore does not continue without it if any data
// can be read. Skip also has the volumes of the replaced data deleted.
//
// +kubebuilder:validation:Enum=Take;Skip
type SafetySnapshot string

// Safety snapshots.
const (
	SafetySnapshotTake SafetySnapshot = "Take"
	SafetySnapshotSkip SafetySnapshot = "Skip"
)

// EtcdClusterRef names an EtcdCluster in the same namespace.
type EtcdClusterRef struct {
	// name of the EtcdCluster.
	// +kubebuilder:validation:MinLength=1
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="EtcdCluster",xDescriptors={"urn:alm:descriptor:io.kubernetes:etcd.database.coreos.com~v1beta2~EtcdCluster"},order=0
	Name string `json:"name"`
}

// EtcdBackupRef names an EtcdBackup in the same namespace.
type EtcdBackupRef struct {
	// name of the EtcdBackup.
	// +kubebuilder:validation:MinLength=1
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="EtcdBackup",xDescriptors={"urn:alm:descriptor:io.kubernetes:etcd.database.coreos.com~v1beta2~EtcdBackup"},order=20
	Name string `json:"name"`
}

// RestorePhase is the phase of a restore.
type RestorePhase string

// Phases of a restore, in their order.
const (
	// RestoreVerifying reads the whole snapshot and verifies it.
	RestoreVerifying RestorePhase = "Verifying"
	// RestoreSaving takes the safety snapshot.
	RestoreSaving RestorePhase = "Saving"
	// RestoreReplacing restarts the cluster from the snapshot. The restore can be canceled until the cluster is up on it.
	RestoreReplacing RestorePhase = "Replacing"
	// RestoreSucceeded and RestoreFailed are final.
	RestoreSucceeded RestorePhase = "Succeeded"
	RestoreFailed    RestorePhase = "Failed"
)

// RestoredFrom is where a snapshot is.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RestoredFrom struct {
	// storage is where the object is.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +required
	Storage Storage `json:"storage"`
	// encryptionSecretRef names the Secret that decrypts it; absent if it is not encrypted.
	// +optional
	EncryptionSecretRef SecretRef `json:"encryptionSecretRef,omitzero"`
	// writerUID is the UID of the EtcdBackup whose snapshots, and those of earlier ones of its name, are chosen from; empty for any.
	// +optional
	WriterUID string `json:"writerUID,omitempty"`
	// object is its name, set once it was chosen.
	// +optional
	Object string `json:"object,omitempty"`
	// sha256 of the object, in hexadecimal, set once it was read completely and verified.
	// +optional
	SHA256 string `json:"sha256,omitempty"`
	// dataVersion is the etcd version of its data, major.minor, set once it was read; empty if the data does not say.
	// +optional
	DataVersion string `json:"dataVersion,omitempty"`
	// database is what the cluster must have room for, and be able to run; set once it was read.
	// +optional
	Database *SnapshotDatabase `json:"database,omitempty"`
}

// SnapshotDatabase describes a snapshot's database, as far as it matters to the cluster that is to run on it.
type SnapshotDatabase struct {
	// sizeBytes is the size of its file, in bytes, free pages included: this is what counts for etcd's quota.
	// +required
	SizeBytes int64 `json:"sizeBytes"`
	// inUseBytes is how much of the file holds data, in bytes: about what defragmenting it would leave.
	// +required
	InUseBytes int64 `json:"inUseBytes"`
	// authEnabled is true if etcd's authentication is enabled in it.
	// +optional
	AuthEnabled bool `json:"authEnabled,omitempty"`
	// alarms are those that etcd had when the snapshot was taken. A restore clears them.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=18
	// +optional
	Alarms []SnapshotAlarm `json:"alarms,omitempty"`
}

// SnapshotAlarm is an etcd alarm.
type SnapshotAlarm struct {
	// name of the alarm: NOSPACE if the database had reached its quota, CORRUPT if the member's data differed from the others'.
	// +required
	Name string `json:"name"`
	// memberID is the ID, in hexadecimal, of the member that it was raised for, in the cluster that the snapshot is of.
	// +required
	MemberID string `json:"memberID"`
}

// String is for messages.
func (a SnapshotAlarm) String() string { return a.Name + " of member " + a.MemberID }

// EtcdRestoreStatus is the state of the restore.
//
// +kubebuilder:pruning:PreserveUnknownFields
type EtcdRestoreStatus struct {
	// succeeded is true once the cluster runs on the restored data.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Succeeded",xDescriptors={"urn:alm:descriptor:text"},order=3
	Succeeded bool `json:"succeeded,omitempty"`
	// reason says why the restore failed, or what it waits for.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Reason",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase:reason"},order=2
	Reason string `json:"reason,omitempty"`
	// phase of the restore.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Phase",xDescriptors={"urn:alm:descriptor:io.kubernetes.phase"},order=1
	Phase RestorePhase `json:"phase,omitempty"`
	// snapshot is the one that was chosen.
	// +optional
	Snapshot *SnapshotStatus `json:"snapshot,omitempty"`
	// source is where the snapshot is: the source in the spec, resolved. It is written once, so later changes of the EtcdBackup
	// do not matter.
	// +optional
	Source *RestoredFrom `json:"source,omitempty"`
	// safetySnapshot is where the replaced data was saved; empty if there was none to save, if it could not be saved (unsaved
	// says why), or if spec.safetySnapshot is Skip.
	// +optional
	SafetySnapshot *SnapshotStatus `json:"safetySnapshot,omitempty"`
	// saveTime is when the safety snapshot was complete, by the operator's clock.
	// +optional
	SaveTime *metav1.Time `json:"saveTime,omitempty"`
	// clusterUID is the UID of the EtcdCluster, set when it was first seen: another one of the same name is not changed.
	// +optional
	ClusterUID string `json:"clusterUID,omitempty"`
	// clusterID is etcd's cluster ID when it was decided that the cluster's data is saved, or need not be: data of another one is
	// not replaced before that is decided again. Empty if there was none.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// unsaved says why the cluster's data could not be saved before it was replaced. Empty if it was saved, if there was
	// nothing to save, or if spec.safetySnapshot is Skip.
	// +optional
	Unsaved string `json:"unsaved,omitempty"`
	// run is the pod that is working; while Replacing that of the first member, until it has restored its data from the snapshot.
	// +optional
	Run *AgentRun `json:"run,omitempty"`
	// completionTime is when the cluster ran on the restored data, or the restore failed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Completed at",xDescriptors={"urn:alm:descriptor:text"},order=4
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// operator is the one that reconciles this EtcdRestore: no other does while that one is running.
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

// EtcdRestore restores a snapshot into an EtcdCluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=etcdrs,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Restored")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Snapshot",type=string,JSONPath=`.status.snapshot.name`,priority=1
// +kubebuilder:printcolumn:name="Saved",type=string,JSONPath=`.status.safetySnapshot.name`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Restored")].message`,priority=1
// +operator-sdk:csv:customresourcedefinitions:displayName="etcd Restore",resources={{Pod,v1},{Event,v1},{EtcdCluster,v1beta2,etcdclusters.etcd.database.coreos.com}},order=3
type EtcdRestore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says which snapshot is restored into which cluster.
	// +required
	Spec EtcdRestoreSpec `json:"spec"`
	// status is the state of the restore.
	// +optional
	Status EtcdRestoreStatus `json:"status,omitzero"`
}

// EtcdRestoreList is a list of EtcdRestores.
//
// +kubebuilder:object:root=true
type EtcdRestoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []EtcdRestore `json:"items"`
}
