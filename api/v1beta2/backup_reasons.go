package v1beta2

// Conditions of an EtcdBackup, beside ConditionAccepted (false while its spec cannot be carried out: the reason says what
// to do) and ConditionProgressing (true while a backup is under way, or waits for something).
const (
	// ConditionBackedUp is true if the last try to take a backup succeeded, false if it failed, with its reason, or if none was
	// made for so long that another one was to follow it (WaitingForStorage), and unknown before the first one is over. To be
	// told of failures that last, alert on status.lastSuccessDate, or the metric
	// etcd_operator_backup_last_success_timestamp_seconds.
	ConditionBackedUp = "BackedUp"
)

// FinalizerObjects keeps an EtcdBackup whose deletionPolicy is Delete until its objects are deleted. It goes as soon as the
// policy is Retain.
const FinalizerObjects = "etcd.database.coreos.com/objects"

// Reasons of an EtcdBackup beside those of storages and snapshots.
const (
	// ReasonNoBackupYet means that no try to take a backup is over yet.
	ReasonNoBackupYet = "NoBackupYet"
	// ReasonBackedUp means that a backup was taken, and checked as spec.verify says.
	ReasonBackedUp = "BackedUp"
	// ReasonStaleBackup means that a snapshot was taken and may be old: no member that answers has a quorum at its back, or etcd
	// has less than it once had. It is kept, marked as stale, and nothing older is deleted; another try follows. See why the
	// members do not reach each other.
	ReasonStaleBackup = "StaleBackup"
	// ReasonBackupUnverified means that a backup is in the storage, and could not be checked as spec.verify says, for the reason
	// that the message gives. It is kept; the next try checks it instead of taking another one.
	ReasonBackupUnverified = "BackupUnverified"
	// ReasonPruned means that backups were deleted that backupPolicy does not keep.
	ReasonPruned = "Pruned"
	// ReasonWarning means that something went wrong beside a backup that succeeded.
	ReasonWarning = "Warning"
	// ReasonInvalidSchedule means that spec.schedule or spec.timeZone cannot be understood.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonWaitingForCluster means that the EtcdCluster has not been up yet.
	ReasonWaitingForCluster = "WaitingForCluster"
	// ReasonForeignBackups means that the storage holds somebody else's backups: those of a cluster that this one does not
	// descend from. If they are of an earlier cluster of the same name, this one may have been created anew, empty: an
	// EtcdRestore brings the data back. Else give another URL, or set spec.prefixPolicy to Shared.
	ReasonForeignBackups = "ForeignBackups"
	// ReasonCleaning means that the objects of an EtcdBackup that is being deleted are deleted, as its deletionPolicy says.
	ReasonCleaning = "Cleaning"
)
