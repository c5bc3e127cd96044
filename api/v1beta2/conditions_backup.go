package v1beta2

// # EtcdBackups
//
// In Progressing, Accepted and BackedUp of an EtcdBackup, beside those of storages and snapshots.
const (
	// ReasonNoBackupYet means that no try to take a backup is over yet.
	//
	// Nothing. Progressing says what is under way.
	ReasonNoBackupYet = "NoBackupYet"
	// ReasonScheduled means that the next backup is not due yet.
	//
	// Nothing.
	ReasonScheduled = "Scheduled"
	// ReasonSuspended means that spec.suspend keeps new backups from being taken.
	//
	// Set spec.suspend to false to have them taken again.
	ReasonSuspended = "Suspended"
	// ReasonBackingUp means that a backup is being taken or checked, or old ones are being deleted.
	//
	// Nothing.
	ReasonBackingUp = "BackingUp"
	// ReasonBackedUp means that a backup was taken, and checked as spec.verify says.
	//
	// Nothing.
	ReasonBackedUp = "BackedUp"
	// ReasonPruned means that backups were deleted that spec.backupPolicy does not keep. Only events have it.
	//
	// Nothing.
	ReasonPruned = "Pruned"
	// ReasonCompletedWithWarnings means that a backup succeeded, and something went wrong beside it. Only events have it.
	//
	// Do what the message says.
	ReasonCompletedWithWarnings = "CompletedWithWarnings"
	// ReasonStaleBackup means that a snapshot was taken and may be old: no member that answers has a quorum at its back, or
	// etcd has less than it once had. It is kept, marked as stale, and nothing older is deleted. Another try follows.
	// A restore fails with it that would replace data on an emptyDir which may be nowhere else.
	//
	// If the EtcdCluster has no quorum, bring its members back. If all of them answer, see whether a NetworkPolicy keeps the
	// backup's pod from some. If the message says that the cluster had a higher revision before, data was lost: delete no
	// backup, and see RevisionRegressed.
	ReasonStaleBackup = "StaleBackup"
	// ReasonBackupUnverified means that a backup is in the storage, and could not be checked as spec.verify says. It is kept;
	// the next try checks it instead of taking another one. What cannot go better by itself, as credentials that may not read,
	// is tried no more before the next backup is due, which is another one; until one could be checked nothing older is deleted.
	//
	// See to what the message names. Do not delete the backup: it may well be good, and a restore checks it before it changes
	// anything.
	ReasonBackupUnverified = "BackupUnverified"
	// ReasonInvalidSchedule means that spec.schedule or spec.timeZone cannot be understood.
	//
	// Correct it: a schedule has the five fields of cron or is a word such as @daily, a time zone is such as Europe/Berlin.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonWaitingForCluster means that the EtcdCluster has not been up yet.
	//
	// See the EtcdCluster's own conditions.
	ReasonWaitingForCluster = "WaitingForCluster"
	// ReasonWaitingForStorage means that another EtcdBackup of the namespace is at work where this one would write the same
	// object: one with coreos/etcd-operator's names, or on the same volume. It is waited for some hours at most.
	//
	// Give each of them a path of its own.
	ReasonWaitingForStorage = "WaitingForStorage"
	// ReasonForeignBackups means that the storage holds somebody else's backups: those of a cluster that this one does not
	// descend from. If they are of an earlier cluster of the same name, this one may have been created anew, empty.
	//
	// Bring the data back by an EtcdRestore, if that is so. Else give another URL, or set spec.prefixPolicy to Shared.
	ReasonForeignBackups = "ForeignBackups"
	// ReasonCleaning means that the objects of an EtcdBackup that is being deleted are deleted, as its deletionPolicy says.
	//
	// Nothing. To leave them where they are, set spec.deletionPolicy to Retain.
	ReasonCleaning = "Cleaning"
)
