package v1beta2

// # EtcdRestores in progress
//
// In Progressing and Restored of an EtcdRestore, and in Progressing of the EtcdCluster that it is for.
const (
	// ReasonVerifying means that the snapshot is being read and verified. The cluster has not been changed.
	//
	// Nothing. To cancel the restore, delete the EtcdRestore.
	ReasonVerifying = "Verifying"
	// ReasonSaving means that the cluster's current data is being saved (the safety snapshot) before it is replaced.
	//
	// Nothing. To cancel the restore, delete the EtcdRestore.
	ReasonSaving = "Saving"
	// ReasonRestoring means that the cluster is being restarted from the snapshot: the previous members are stopped, then the
	// new ones started.
	//
	// Nothing. To cancel the restore, delete the EtcdRestore: the previous members start again, unless they were on an
	// emptyDir.
	ReasonRestoring = "Restoring"
	// ReasonRestored means that the cluster runs on the snapshot's data. The volumes with the replaced data are kept; with
	// safetySnapshot Skip they are deleted once the cluster matches its spec.
	//
	// Delete the volumes that the message names (kubectl delete pvc) once their data is no longer needed.
	ReasonRestored = "Restored"
	// ReasonWaitingForRestore means that the EtcdCluster starts once its EtcdRestore has verified the snapshot.
	//
	// See the conditions of the EtcdRestore that the message names.
	ReasonWaitingForRestore = "WaitingForRestore"
	// ReasonResuming means that a restore was canceled, or failed, and the previous members start again with their data.
	//
	// Nothing.
	ReasonResuming = "Resuming"
	// ReasonRestoreContinues means that a restore was to be canceled but continues: too few of the previous members can come
	// back with their data, for example because it was on an emptyDir and they have stopped, and the cluster would be left
	// without quorum. If enough of them can before the cluster is up on the snapshot, the restore is canceled after all.
	//
	// Nothing, or create another EtcdRestore, for example of the safety snapshot: it supersedes this one. Do not remove the
	// finalizer of the EtcdRestore that is being deleted: it says where the snapshot is.
	ReasonRestoreContinues = "RestoreContinues"
)

// # EtcdRestores that cannot continue
//
// In Restored and Progressing of an EtcdRestore, and Degraded of an EtcdCluster that is to start from it. An EtcdRestore is
// carried out once: after the fix, create another one.
const (
	// ReasonBackupMissing means that the EtcdBackup in spec.backup does not exist.
	//
	// Create it within an hour of the EtcdRestore, or name the storage itself in spec.storage.
	ReasonBackupMissing = "BackupMissing"
	// ReasonClusterDeleted means that the EtcdCluster is being deleted, or was while its data was being replaced.
	//
	// To restore the snapshot into another cluster, create an EtcdCluster with spec.restoreFrom.
	ReasonClusterDeleted = "ClusterDeleted"
	// ReasonClusterReplaced means that the EtcdCluster was deleted, and another one of the same name created, which is not
	// changed.
	//
	// Create another EtcdRestore to restore into it.
	ReasonClusterReplaced = "ClusterReplaced"
	// ReasonRestoreSuperseded means that a later EtcdRestore of the same cluster was verified before this one had completed, and
	// superseded it.
	//
	// Nothing, if the later one is what you want.
	ReasonRestoreSuperseded = "RestoreSuperseded"
	// ReasonRestoreCalledOff means that the EtcdRestore was deleted before the cluster was up on the snapshot: the cluster
	// returns to its previous data.
	//
	// Nothing.
	ReasonRestoreCalledOff = "RestoreCalledOff"
	// ReasonRecoveryVoid means that the EtcdRestore was to restore what a surviving member holds, and that its plan is no longer the
	// one that was confirmed: the quorum is back, or another member answers, or one less. Nothing was replaced.
	//
	// Nothing, if the quorum is back. Otherwise look at the new plan in status.recovery of the EtcdCluster, and confirm that.
	ReasonRecoveryVoid = "RecoveryVoid"
	// ReasonClearingAttempt means that what an attempt at a restore has left is deleted: another attempt follows, or the restore
	// was canceled. A volume is deleted only if etcd was never permitted to start on it: its data is in the snapshot. Only
	// events have it.
	//
	// Nothing.
	ReasonClearingAttempt = "ClearingAttempt"
	// ReasonRestoreFailed means that the EtcdRestore that the EtcdCluster is to start from has failed, or a snapshot that
	// is being restored cannot be and the previous members cannot come back either; or an EtcdRestore with the name that
	// spec.restoreFrom uses already exists from before, or for another EtcdCluster.
	//
	// Do not delete the EtcdCluster. Create another EtcdRestore for it, of another snapshot or clusterID, or of the safety
	// snapshot: it supersedes the one that failed. If a cluster with restoreFrom has not started yet, and the cause is
	// fixed, delete its EtcdRestore (the cluster's name and -restore): it is recreated unchanged.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonAnsweredBefore means that coreos/etcd-operator has already carried out or refused this EtcdRestore, so it is ignored.
	//
	// Create another EtcdRestore if it is to be carried out now.
	ReasonAnsweredBefore = "AnsweredBefore"
	// ReasonSeveralLineages means that the storage holds backups of several clusters, none of which descends from all others, so
	// "the latest" may be another cluster's. A cluster that is recreated, or restored, has another cluster ID, whatever its
	// name.
	//
	// Find out which of them to restore: the message says whose each is. The latest time does not decide, because a cluster that
	// came back empty is backed up too. Then create another EtcdRestore with its clusterID, or with the name of a snapshot.
	ReasonSeveralLineages = "SeveralLineages"
	// ReasonVolumeTooSmall means that the volumes of the members, as the EtcdCluster's spec describes them, are too small to
	// restore the snapshot.
	//
	// Raise what the message names to the size that it says.
	ReasonVolumeTooSmall = "VolumeTooSmall"
	// ReasonQuotaTooSmall means that the snapshot's database exceeds the quota in the EtcdCluster's spec, so etcd would accept no
	// writes.
	//
	// Raise spec.etcd.quotaBackendBytes of the EtcdCluster.
	ReasonQuotaTooSmall = "QuotaTooSmall"
	// ReasonSnapshotNeedsAuth means that etcd's authentication is enabled in the snapshot, and the operator could not be its user root in
	// this EtcdCluster: clients connect without certificates, or the operator's names somebody else.
	//
	// Restore it into an EtcdCluster with spec.tls.managed, or with an operator's certificate that has the common name root. Or take a
	// snapshot with authentication disabled, and restore that.
	ReasonSnapshotNeedsAuth = "SnapshotNeedsAuth"
)
