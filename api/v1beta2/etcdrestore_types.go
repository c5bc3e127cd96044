package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdRestoreSpec says which snapshot is restored into which cluster.
//
// +kubebuilder:validation:XValidation:rule="has(self.s3) && self.backupStorageType == 'S3' || has(self.abs) && self.backupStorageType == 'ABS' || has(self.gcs) && self.backupStorageType == 'GCS' || has(self.oss) && self.backupStorageType == 'OSS'",message="give the storage that backupStorageType names: s3, abs, gcs or oss"
type EtcdRestoreSpec struct {
	// etcdCluster is the cluster that is replaced.
	// +required
	EtcdCluster EtcdClusterRef `json:"etcdCluster"`
	// backupStorageType names the kind of storage.
	// +required
	BackupStorageType StorageType `json:"backupStorageType"`

	BackupStorage `json:",inline"`
}

// EtcdClusterRef names an EtcdCluster in the same namespace.
type EtcdClusterRef struct {
	// name of the EtcdCluster.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
}

// EtcdRestoreStatus tells how the restore went.
type EtcdRestoreStatus struct {
	// succeeded is true once the cluster runs on the restored data.
	// +optional
	Succeeded bool `json:"succeeded,omitempty"`
	// reason says why the restore failed.
	// +optional
	Reason string `json:"reason,omitempty"`
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions tell what is going on.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EtcdRestore restores a snapshot into an EtcdCluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=all
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`
// +kubebuilder:printcolumn:name="Succeeded",type=boolean,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EtcdRestore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which snapshot is restored into which cluster.
	// +required
	Spec EtcdRestoreSpec `json:"spec"`
	// status tells how the restore went.
	// +optional
	Status EtcdRestoreStatus `json:"status,omitempty"`
}

// EtcdRestoreList is a list of EtcdRestores.
//
// +kubebuilder:object:root=true
type EtcdRestoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdRestore `json:"items"`
}
