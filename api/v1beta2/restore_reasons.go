package v1beta2

// Reasons about restores.
const (
	// ReasonVerifying means that the snapshot is being read and checked; Saving that what the cluster holds is being saved;
	// Restoring that the cluster starts again from the snapshot; Restored that it runs on it, and what it has replaced is deleted.
	ReasonVerifying = "Verifying"
	ReasonSaving    = "Saving"
	ReasonRestoring = "Restoring"
	ReasonRestored  = "Restored"
	// ReasonWaitingForRestore means that the cluster starts once its EtcdRestore has verified the snapshot.
	ReasonWaitingForRestore = "WaitingForRestore"
	// ReasonBackupMissing means that the EtcdBackup does not exist that the snapshot is to come from: create it, or name the
	// storage.
	ReasonBackupMissing = "BackupMissing"
	// ReasonClusterDeleted means that the EtcdCluster is being deleted, or was while its data was being replaced.
	ReasonClusterDeleted = "ClusterDeleted"
	// ReasonRestoreSuperseded means that a later EtcdRestore of the same cluster was verified before this one was done, and took its
	// place.
	ReasonRestoreSuperseded = "RestoreSuperseded"
	// ReasonSeveralLineages means that the storage holds backups of several clusters, none of which goes on with all others, so
	// that "the latest" may be another cluster's: create another EtcdRestore, with clusterID or snapshot. A cluster that is created anew, or restored, has
	// another cluster ID, whatever its name.
	ReasonSeveralLineages = "SeveralLineages"
	// ReasonRestoreCalledOff means that the EtcdRestore was deleted before the cluster was up on the snapshot: the cluster goes
	// back to what it held.
	ReasonRestoreCalledOff = "RestoreCalledOff"
	// ReasonResuming means that a restore was called off, or failed, and that the former members start again on their own
	// volumes. Of members on an emptyDir nothing is left to start: restore the safety snapshot.
	ReasonResuming = "Resuming"
	// ReasonRestoreFailed means that the EtcdRestore which the cluster is to start from has failed: delete it to have the
	// same tried again, or create another one, with another snapshot or clusterID, say.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonClusterReplaced means that the EtcdCluster was deleted, and that another one has its name: nothing is done to that
	// one. Create another EtcdRestore to restore into it.
	ReasonClusterReplaced = "ClusterReplaced"
	// ReasonAnsweredBefore means that an earlier operator has carried this object out, or refused it.
	ReasonAnsweredBefore = "AnsweredBefore"
	// ReasonVolumeTooSmall means that the volumes that the spec gives to members have no room for the snapshot to be restored:
	// raise what the message names.
	ReasonVolumeTooSmall = "VolumeTooSmall"
	// ReasonQuotaTooSmall means that the database of the snapshot has reached the quota that the spec gives to etcd, which would
	// take no writes: raise spec.etcd.quotaBackendBytes.
	ReasonQuotaTooSmall = "QuotaTooSmall"
	// ReasonSnapshotNeedsAuth means that etcd's authentication is switched on in the snapshot: the operator has no user in it, so
	// that it could not run the cluster. Take one with authentication off.
	ReasonSnapshotNeedsAuth = "SnapshotNeedsAuth"
)
