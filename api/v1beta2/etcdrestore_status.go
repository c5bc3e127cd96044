package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// encryptionSecretRef names the Secret with the passphrase that decrypts it; absent if there is none.
	// +optional
	EncryptionSecretRef SecretRef `json:"encryptionSecretRef,omitzero"`
	// identitySecretRef names the Secret with the identity that decrypts it; absent if there is none.
	// +optional
	IdentitySecretRef SecretRef `json:"identitySecretRef,omitzero"`
	// recipients are those of the EtcdBackup: the safety snapshot is encrypted to them, and otherwise with what decrypts the object.
	// +listType=atomic
	// +optional
	Recipients []string `json:"recipients,omitempty"`
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
