package v1beta2

// # EtcdBackups
//
// In Progressing, Accepted, BackedUp and UpToDate of an EtcdBackup, beside those of storages and snapshots.
const (
	// ReasonNoBackupYet means that no attempt to take a backup has finished yet.
	//
	// Nothing. Progressing says what is under way.
	ReasonNoBackupYet = "NoBackupYet"
	// ReasonBackupOverdue means that no good backup was taken for more than twice the time between two of them: what was written since is in
	// none. Only UpToDate and an event have it.
	//
	// See why in BackedUp and Progressing, or why the operator did not run.
	ReasonBackupOverdue = "BackupOverdue"
	// ReasonScheduled means that the next backup is not due yet.
	//
	// Nothing.
	ReasonScheduled = "Scheduled"
	// ReasonSuspended means that backups are suspended by spec.suspend.
	//
	// Set spec.suspend to false to resume them.
	ReasonSuspended = "Suspended"
	// ReasonBackingUp means that a backup is being taken or verified, or old ones are being deleted.
	//
	// Nothing.
	ReasonBackingUp = "BackingUp"
	// ReasonBackedUp means that a backup was taken and verified as spec.verify says.
	//
	// Nothing.
	ReasonBackedUp = "BackedUp"
	// ReasonPruned means that backups that spec.backupPolicy no longer retains were deleted. Only events have it.
	//
	// Nothing.
	ReasonPruned = "Pruned"
	// ReasonCompletedWithWarnings means that a backup succeeded, but something else went wrong. Only events have it.
	//
	// Do what the message says.
	ReasonCompletedWithWarnings = "CompletedWithWarnings"
	// ReasonStaleBackup means that a snapshot was taken but may be stale: no member that answers has quorum, or etcd has a lower
	// revision than it once had. It is kept, marked as stale, and no older one is deleted. The backup is retried. A restore
	// that would replace data on an emptyDir that may exist nowhere else fails with this reason.
	//
	// If the EtcdCluster has no quorum, bring its members back. If all of them answer, check whether a NetworkPolicy blocks the
	// backup's pod from some of them. If the message says that the cluster had a higher revision before, data was lost: delete
	// no backup, and see RevisionRegressed. For an EtcdRestore: bring the members back and create another one, or accept the
	// loss with safetySnapshot: Skip.
	ReasonStaleBackup = "StaleBackup"
	// ReasonBackupUnverified means that a backup is in the storage but could not be verified as spec.verify says. It is kept;
	// the next attempt verifies it instead of taking another one. After a failure that no retry can fix, such as credentials
	// without read access, nothing is attempted until the next backup is due; until one could be verified no older one is
	// deleted.
	//
	// Fix what the message names. Do not delete the backup: it may be good, and a restore verifies it before it changes
	// anything.
	ReasonBackupUnverified = "BackupUnverified"
	// ReasonInvalidSchedule means that spec.schedule or spec.timeZone cannot be parsed.
	//
	// Correct it: a schedule has the five fields of cron or is a word such as @daily, a time zone is such as Europe/Berlin.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonWaitingForCluster means that the EtcdCluster is not up yet, or that the Secret by which the operator or an agent is its client
	// is missing or cannot be used, which the message says.
	//
	// See the EtcdCluster's own conditions.
	ReasonWaitingForCluster = "WaitingForCluster"
	// ReasonWaitingForStorage means that another EtcdBackup of the namespace is running and would write the same object: one
	// with coreos/etcd-operator's object names, or one on the same volume. The wait is limited to some hours.
	//
	// Give each of them a path of its own.
	ReasonWaitingForStorage = "WaitingForStorage"
	// ReasonForeignBackups means that the storage holds the backups of a cluster that this one does not descend from. If they
	// are of an earlier cluster of the same name, this one may have been recreated empty. If they are this EtcdBackup's own,
	// spec.etcdEndpoints lead to another etcd cluster than before. No backup is written or deleted.
	//
	// If the cluster is empty that had data, restore it with an EtcdRestore. If the endpoints lead to the wrong etcd, correct them.
	// Otherwise set another URL, or set spec.prefixPolicy to Shared.
	ReasonForeignBackups = "ForeignBackups"
	// ReasonCleaning means that the EtcdBackup is being deleted, and its backups with it, as spec.deletionPolicy says.
	//
	// Nothing. To keep the backups in the storage, set spec.deletionPolicy to Retain.
	ReasonCleaning = "Cleaning"
)
