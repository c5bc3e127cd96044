package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdBackupSpec says what is backed up, and to where.
//
// +kubebuilder:validation:XValidation:rule="has(self.s3) && self.storageType == 'S3' || has(self.abs) && self.storageType == 'ABS' || has(self.gcs) && self.storageType == 'GCS' || has(self.oss) && self.storageType == 'OSS'",message="give the storage that storageType names: s3, abs, gcs or oss"
type EtcdBackupSpec struct {
	// etcdEndpoints are the client URLs of the etcd cluster.
	// +kubebuilder:validation:MaxItems=32
	// +optional
	EtcdEndpoints []string `json:"etcdEndpoints,omitempty"`
	// storageType names the kind of storage.
	// +required
	StorageType StorageType `json:"storageType"`

	BackupStorage `json:",inline"`

	// clientTLSSecret is a Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt.
	// +optional
	ClientTLSSecret string `json:"clientTLSSecret,omitempty"`
	// backupPolicy says how often and how many.
	// +optional
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`
}

// BackupPolicy says how often and how many.
type BackupPolicy struct {
	// timeoutInSecond is how long one backup may take; 60 if 0.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TimeoutInSecond int64 `json:"timeoutInSecond,omitempty"`
	// backupIntervalInSecond is the time between two backups; 0 means one backup only.
	// +kubebuilder:validation:Minimum=0
	// +optional
	BackupIntervalInSecond int64 `json:"backupIntervalInSecond,omitempty"`
	// maxBackups is how many are kept; 0 keeps all.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxBackups int32 `json:"maxBackups,omitempty"`
}

// EtcdBackupStatus tells how the backups went.
type EtcdBackupStatus struct {
	// succeeded is true when the last backup did.
	// +optional
	Succeeded bool `json:"succeeded,omitempty"`
	// Reason says why the last backup failed.
	// +optional
	Reason string `json:"Reason,omitempty"`
	// etcdVersion is the version of the etcd that was backed up.
	// +optional
	EtcdVersion string `json:"etcdVersion,omitempty"`
	// etcdRevision is the revision of the last backup.
	// +optional
	EtcdRevision int64 `json:"etcdRevision,omitempty"`
	// lastSuccessDate is when the last good backup was taken. Objects of coreos/etcd-operator hold null for never.
	// +nullable
	// +optional
	LastSuccessDate *metav1.Time `json:"lastSuccessDate,omitempty"`
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions tell what is going on.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EtcdBackup is a backup of an etcd cluster, once or again and again.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=all
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Succeeded",type=boolean,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Last success",type=date,JSONPath=`.status.lastSuccessDate`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EtcdBackup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is backed up, and to where.
	// +required
	Spec EtcdBackupSpec `json:"spec"`
	// status tells how the backups went.
	// +optional
	Status EtcdBackupStatus `json:"status,omitempty"`
}

// EtcdBackupList is a list of EtcdBackups.
//
// +kubebuilder:object:root=true
type EtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdBackup `json:"items"`
}
