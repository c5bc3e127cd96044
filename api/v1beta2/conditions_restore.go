package v1beta2

// # EtcdRestores at work
//
// In Progressing and Restored of an EtcdRestore, and in Progressing of the EtcdCluster that it is for.
const (
	// ReasonVerifying means that the snapshot is being read and checked. Nothing was done to the cluster.
	//
	// Nothing. To call the restore off, delete the EtcdRestore.
	ReasonVerifying = "Verifying"
	// ReasonSaving means that what the cluster holds is being saved before it is replaced.
	//
	// Nothing. To call the restore off, delete the EtcdRestore.
	ReasonSaving = "Saving"
	// ReasonRestoring means that the cluster starts again from the snapshot.
	//
	// Nothing. To call the restore off, delete the EtcdRestore: the former members start again, unless they were on an emptyDir.
	ReasonRestoring = "Restoring"
	// ReasonRestored means that the cluster runs on the snapshot. The volumes of what that has replaced are kept; with
	// safetySnapshot Skip they are deleted once the cluster is as its spec asks.
	//
	// Delete the volumes that the message names (kubectl delete pvc) once nobody needs what is on them.
	ReasonRestored = "Restored"
	// ReasonWaitingForRestore means that the EtcdCluster starts once its EtcdRestore has verified the snapshot.
	//
	// See the conditions of the EtcdRestore that the message names.
	ReasonWaitingForRestore = "WaitingForRestore"
	// ReasonResuming means that a restore was called off, or failed, and the former members start again with their data.
	//
	// Nothing.
	ReasonResuming = "Resuming"
	// ReasonRestoreContinues means that a restore was to be called off, and goes on: too few of the former members can come back
	// with their data, such as those on an emptyDir once they have stopped, and the cluster would be left with none. Should
	// enough of them be able to before the cluster is up on the snapshot, the restore is called off after all.
	//
	// Nothing, or create another EtcdRestore, of the safety snapshot say: it takes this one's place. Do not take the finalizer
	// off the EtcdRestore that is being deleted: it says where the snapshot is.
	ReasonRestoreContinues = "RestoreContinues"
)

// # EtcdRestores that cannot go on
//
// In Restored and Progressing of an EtcdRestore, and Degraded of an EtcdCluster that is to start from it. An EtcdRestore is
// carried out once: after the fix, create another one.
const (
	// ReasonBackupMissing means that the EtcdBackup does not exist that the snapshot is to come from.
	//
	// Create it within an hour of the EtcdRestore, or name the storage itself in spec.storage.
	ReasonBackupMissing = "BackupMissing"
	// ReasonClusterDeleted means that the EtcdCluster is being deleted, or was while its data was being replaced.
	//
	// To have the snapshot's data in another cluster, create an EtcdCluster with spec.restoreFrom.
	ReasonClusterDeleted = "ClusterDeleted"
	// ReasonClusterReplaced means that the EtcdCluster was deleted, and another one has its name. Nothing is done to that one.
	//
	// Create another EtcdRestore to restore into it.
	ReasonClusterReplaced = "ClusterReplaced"
	// ReasonRestoreSuperseded means that a later EtcdRestore of the same cluster was verified before this one was done, and
	// took its place.
	//
	// Nothing, if the later one is what you want.
	ReasonRestoreSuperseded = "RestoreSuperseded"
	// ReasonRestoreCalledOff means that the EtcdRestore was deleted before the cluster was up on the snapshot: the cluster goes
	// back to what it held.
	//
	// Nothing.
	ReasonRestoreCalledOff = "RestoreCalledOff"
	// ReasonClearingAttempt means that what an attempt at a restore has left is deleted: another attempt goes on, or the restore
	// was called off. A volume goes only if etcd was never let start on it: what is there is in the snapshot. Only events have it.
	//
	// Nothing.
	ReasonClearingAttempt = "ClearingAttempt"
	// ReasonRestoreFailed means that the EtcdRestore which the EtcdCluster is to start from has failed, or that a snapshot which
	// is being restored never can be, and the former members cannot come back either; or that an EtcdRestore of the name that
	// spec.restoreFrom makes is of before, or for another EtcdCluster.
	//
	// Do not delete the EtcdCluster. Create another EtcdRestore for it, of another snapshot or clusterID, or of the safety
	// snapshot: it takes the place of the one that failed. Where a cluster with restoreFrom has not begun to start, and the cause
	// is mended, delete its EtcdRestore (the cluster's name and -restore): it is made again as it was.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonAnsweredBefore means that coreos/etcd-operator has carried this EtcdRestore out, or refused it. Nothing is done for
	// it.
	//
	// Create another EtcdRestore if it is to be done now.
	ReasonAnsweredBefore = "AnsweredBefore"
	// ReasonSeveralLineages means that the storage holds backups of several clusters, none of which goes on with all others, so
	// that "the latest" may be another cluster's. A cluster that is created anew, or restored, has another cluster ID, whatever
	// its name.
	//
	// Find out which of them is meant: the message tells whose each is. The latest time does not, for a cluster that came back
	// empty is backed up, too. Then create another EtcdRestore with that one's clusterID, or with the name of a snapshot.
	ReasonSeveralLineages = "SeveralLineages"
	// ReasonVolumeTooSmall means that the volumes that the EtcdCluster's spec gives to members have no room for the snapshot to
	// be restored.
	//
	// Raise what the message names to the size that it says.
	ReasonVolumeTooSmall = "VolumeTooSmall"
	// ReasonQuotaTooSmall means that the database of the snapshot has reached the quota that the EtcdCluster's spec gives to
	// etcd, which would take no writes.
	//
	// Raise spec.etcd.quotaBackendBytes of the EtcdCluster.
	ReasonQuotaTooSmall = "QuotaTooSmall"
	// ReasonSnapshotNeedsAuth means that etcd's authentication is switched on in the snapshot: the operator has no user in it,
	// so that it could not run the cluster.
	//
	// Take a snapshot with authentication off, and restore that.
	ReasonSnapshotNeedsAuth = "SnapshotNeedsAuth"
)
