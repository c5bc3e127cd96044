package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RestoreSource says which snapshot is restored.
//
// +kubebuilder:validation:XValidation:rule="[has(self.backup), has(self.storage), has(self.backupStorageType)].filter(given, given).size() == 1",message="say from where, in one way: backup, storage, or backupStorageType with its stanza"
// +kubebuilder:validation:XValidation:rule="!has(self.backupStorageType) || has(self.s3) && self.backupStorageType == 'S3' || has(self.abs) && self.backupStorageType == 'ABS' || has(self.gcs) && self.backupStorageType == 'GCS' || has(self.oss) && self.backupStorageType == 'OSS'",message="give the storage that backupStorageType names: s3, abs, gcs or oss"
// +kubebuilder:validation:XValidation:rule="!has(self.snapshot) || !has(self.before)",message="give snapshot or before, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.snapshot) || !has(self.clusterID)",message="give snapshot or clusterID, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.backupStorageType) || !has(self.snapshot) && !has(self.before) && !has(self.clusterID)",message="snapshot, before and clusterID choose among the snapshots of backup or storage: a path of backupStorageType is one snapshot"
// +kubebuilder:validation:XValidation:rule="!has(self.encryptionSecretRef) || !has(self.identitySecretRef)",message="give encryptionSecretRef (a passphrase) or identitySecretRef (of recipients), not both"
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
	// encryptionSecretRef names a Secret whose key passphrase decrypts the object; by default that of the EtcdBackup in backup,
	// unless identitySecretRef is set.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Passphrase",order=24
	EncryptionSecretRef SecretRef `json:"encryptionSecretRef,omitzero"`
	// identitySecretRef names a Secret whose key identity is a file as age-keygen writes it. It decrypts an object that was encrypted
	// to a recipient (public key) whose identity (secret key) is in there. The Secret can be deleted once the cluster is up.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Secret key of a recipient",order=24
	IdentitySecretRef SecretRef `json:"identitySecretRef,omitzero"`
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
// +kubebuilder:validation:XValidation:rule="!has(self.member) || !has(self.snapshot) && !has(self.before) && !has(self.clusterID) && !has(self.backupStorageType)",message="with member the snapshot is taken from it, and backup or storage is where it is kept: remove snapshot, before, clusterID and backupStorageType"
// +kubebuilder:validation:XValidation:rule="!has(self.member) || !has(self.safetySnapshot) || self.safetySnapshot != 'Skip'",message="with member the safety snapshot is what is restored: remove safetySnapshot"
type EtcdRestoreSpec struct {
	// etcdCluster is the cluster whose data is replaced. It is not changed before the snapshot was read completely and
	// verified. To start a new cluster from a snapshot, use spec.restoreFrom of the EtcdCluster.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Cluster to restore into",order=0
	EtcdCluster EtcdClusterRef `json:"etcdCluster"`

	RestoreSource `json:",inline"`

	// member restores what that member of the cluster holds, without a quorum, instead of a snapshot that was taken before. Its snapshot
	// is first written to backup or storage. The operator creates such an EtcdRestore once the plan in status.recovery of the
	// EtcdCluster is confirmed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Surviving member",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=26
	Member *RestoreMember `json:"member,omitempty"`

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
	// pod configures the pods that read and verify the snapshot, and that save the cluster's data.
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
