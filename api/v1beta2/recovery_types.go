package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// QuorumLossPolicy says who confirms that a cluster is to be recovered from what one member still holds.
//
// +kubebuilder:validation:Enum=Manual;Automatic
type QuorumLossPolicy string

// Quorum loss policies.
const (
	// QuorumLossManual leaves that to users, by the annotation etcd.database.coreos.com/recover.
	QuorumLossManual QuorumLossPolicy = "Manual"
	// QuorumLossAutomatic has the operator do it where the API server proves that the data of a majority is lost.
	QuorumLossAutomatic QuorumLossPolicy = "Automatic"
)

// RecoverySpec says what happens once a majority of the voters is lost for good.
type RecoverySpec struct {
	// quorumLoss is who confirms a recovery from the surviving data (status.recovery.plan). With Manual, the default, nothing happens
	// until the annotation etcd.database.coreos.com/recover has the plan's hash. With Automatic the operator acts by itself after
	// deadline, but only if no majority can ever form again because pods and volumes no longer exist, and all other voters answer.
	// Members that are merely silent may be serving clients elsewhere: that always needs a user.
	// +kubebuilder:default=Manual
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Recovery from a lost quorum",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:select:Manual","urn:alm:descriptor:com.tectonic.ui:select:Automatic"},order=0
	QuorumLoss QuorumLossPolicy `json:"quorumLoss,omitempty"`
	// deadline is how long the quorum has to be lost before Automatic acts, such as 30m, which is the default; 1m at least.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m')",message="recovery.deadline must be 1m at least: members that restart are back within that"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Deadline of automatic recovery",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=1
	Deadline *metav1.Duration `json:"deadline,omitempty"`
	// backup is an EtcdBackup in whose storage, and with whose passphrase, the survivor's snapshot is kept until the new members have
	// it. By default that is a PersistentVolumeClaim like the members'. Members on an emptyDir have none: their cluster cannot be
	// recovered without it. What an EtcdBackup with encryptionRecipients encrypts the operator cannot read.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Storage of recoveries",order=2
	Backup *EtcdBackupRef `json:"backup,omitempty"`
}

// RecoveryStatus is what can be done about a lost quorum.
type RecoveryStatus struct {
	// plan is what a recovery would do now. It is absent while no member that answers is known to hold the data, and while any of
	// them follows a leader, because then a quorum may be serving clients where the operator cannot see it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Recovery plan"
	Plan *RecoveryPlan `json:"plan,omitempty"`
}

// RecoveryPlan says what a recovery from a lost quorum would do, and what it would cost. Any change of what it is based on gives it
// another hash, and voids what was confirmed.
type RecoveryPlan struct {
	// hash identifies the plan. To confirm it, set the annotation etcd.database.coreos.com/recover of the EtcdCluster to it.
	// +required
	Hash string `json:"hash"`
	// survivor is the member that the cluster is restored from: of those that answer, the one that has applied most.
	// +required
	Survivor string `json:"survivor"`
	// revision is the survivor's. Writes that were acknowledged at a later one are lost.
	// +required
	Revision int64 `json:"revision"`
	// lost are the voters whose data is lost: their volume, or the pod with their emptyDir, no longer exists.
	// +listType=atomic
	// +optional
	Lost []string `json:"lost,omitempty"`
	// silent are the voters that do not answer, and whose data may still be there.
	// +listType=atomic
	// +optional
	Silent []string `json:"silent,omitempty"`
	// heldBack says what is missing before the plan can be carried out; empty if nothing is.
	// +optional
	HeldBack string `json:"heldBack,omitempty"`
	// backup is the newest verified backup of the cluster: the alternative. It is absent if none is known.
	// +optional
	Backup *RecoveryBackup `json:"backup,omitempty"`
	// message says all of that in words.
	// +optional
	Message string `json:"message,omitempty"`
}

// RecoveryBackup is a backup that could be restored instead.
type RecoveryBackup struct {
	// etcdBackup is the name of the EtcdBackup that wrote it.
	// +required
	EtcdBackup string `json:"etcdBackup"`
	// snapshot is the object's name (spec.snapshot of an EtcdRestore).
	// +required
	Snapshot string `json:"snapshot"`
	// revision is the snapshot's.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// creationTime is when it was taken.
	// +optional
	CreationTime metav1.Time `json:"creationTime,omitzero"`
}

// RestoreMember has an EtcdRestore restore what a member of the cluster holds while there is no quorum.
type RestoreMember struct {
	// name of the member: the survivor in the plan.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Member",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=0
	Name string `json:"name"`
	// plan is the hash of the plan that it carries out (status.recovery.plan.hash of the EtcdCluster). Once the cluster's plan is
	// another one, or its quorum is back, the EtcdRestore fails, and nothing is replaced.
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{12}$`
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Hash of the plan",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=1
	Plan string `json:"plan"`
}
