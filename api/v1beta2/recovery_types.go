package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RecoverySpec says how the cluster is recovered once a majority of the voters is lost for good. Only a user begins that, by the annotation
// etcd.database.coreos.com/recover.
type RecoverySpec struct {
	// backup is an EtcdBackup of this cluster in whose storage, and with whose passphrase, the survivor's snapshot is kept. By default that is a
	// PersistentVolumeClaim like the members'. Members on an emptyDir have none: their cluster cannot be recovered without it. Nothing
	// deletes the snapshot, or the claim, once the new members have it. What an EtcdBackup with encryptionRecipients encrypts the operator
	// cannot read. The members' ServiceAccount is the one that gets at the storage.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Storage of recoveries",order=0
	Backup *EtcdBackupRef `json:"backup,omitempty"`
}

// RecoveryStatus is what can be done about a lost quorum.
type RecoveryStatus struct {
	// plan is what a recovery would do now. It is absent while no member that answers is known to hold the data, and while a
	// voter follows a leader, because then a quorum may be serving clients where the operator cannot see it.
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
	// lost are the voters whose data is lost: their volume, or the pod with their emptyDir, no longer exists. Whoever has removed a pod by
	// force, or a Node, knows whether etcd still runs there; Kubernetes does not.
	// +listType=atomic
	// +optional
	Lost []string `json:"lost,omitempty"`
	// silent are the others that may still have data: voters that do not answer, and members that do not vote, or did not when there was a
	// quorum.
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
