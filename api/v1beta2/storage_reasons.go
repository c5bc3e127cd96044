package v1beta2

// Reasons about the storage of backups. Each says what somebody must do, except where it is said that it may go away by
// itself.
const (
	// ReasonStorageMisconfigured means that the storage is described in a way that cannot work: correct what the message
	// names.
	ReasonStorageMisconfigured = "StorageMisconfigured"
	// ReasonStorageCredentialsRefused means that the storage does not accept the credentials: correct the Secret, or the
	// pod's cloud identity.
	ReasonStorageCredentialsRefused = "StorageCredentialsRefused"
	// ReasonNoSuchBucket means that the bucket does not exist: create it, or correct its name. The
	// folder of a file URL that was deleted during a backup is made again by the next try.
	ReasonNoSuchBucket = "NoSuchBucket"
	// ReasonNoSuchObject means that the object does not exist.
	ReasonNoSuchObject = "NoSuchObject"
	// ReasonObjectArchived means that the object is in an archive of the storage: bring it back there before it is read.
	ReasonObjectArchived = "ObjectArchived"
	// ReasonStorageReadOnly means that the storage may be read and not written.
	ReasonStorageReadOnly = "StorageReadOnly"
	// ReasonStorageAccessDenied means that the credentials are known, and not allowed to do what the message names.
	ReasonStorageAccessDenied = "StorageAccessDenied"
	// ReasonObjectLocked means that the storage's own retention, or a hold, keeps an object that was to be deleted or written
	// over: it can be once that is over.
	ReasonObjectLocked = "ObjectLocked"
	// ReasonObjectChanged means that an object was written over while it was read. Another try reads the new one.
	ReasonObjectChanged = "ObjectChanged"
	// ReasonStorageFull means that the storage, or a quota on it, is full: make room, or keep fewer backups.
	ReasonStorageFull = "StorageFull"
	// ReasonStorageNotTrusted means that the storage's certificate cannot be verified: give its authority's.
	ReasonStorageNotTrusted = "StorageNotTrusted"
	// ReasonInsecureEndpoint means that a token would be sent in plain text, or that of the pod's own identity to a service that
	// is not of its cloud. Nothing was sent: use https, or the cloud's own endpoint, or keys instead of tokens, or set
	// storage.allowTokens.
	ReasonInsecureEndpoint = "InsecureEndpoint"
	// ReasonStorageUnreachable means that nobody answers at the storage's address, or only to ask for patience. It may go
	// away by itself.
	ReasonStorageUnreachable = "StorageUnreachable"
	// ReasonStorageTimeout means that the storage did not answer in time. It may go away by itself.
	ReasonStorageTimeout = "StorageTimeout"
	// ReasonStorageFailed means that the storage failed in a way that has no name here. It may go away by itself.
	ReasonStorageFailed = "StorageFailed"
)

// Reasons about snapshots, and the etcd that they come from.
const (
	// ReasonSnapshotDamaged means that a snapshot is not what was written: use another one.
	ReasonSnapshotDamaged = "SnapshotDamaged"
	// ReasonSnapshotStalled means that no bytes moved for minutes, between etcd and the storage.
	ReasonSnapshotStalled = "SnapshotStalled"
	// ReasonSnapshotTimeout means that it was not done in the time that it was given.
	ReasonSnapshotTimeout = "SnapshotTimeout"
	// ReasonSnapshotVersion means that the etcd that a snapshot is restored for is too old, or too new, to read it.
	ReasonSnapshotVersion = "SnapshotVersion"
	// ReasonSnapshotFailed means that it failed in a way that has no name here.
	ReasonSnapshotFailed = "SnapshotFailed"
	// ReasonEncryptionKeyRefused means that the passphrase is missing, too short, or not the one that was used.
	ReasonEncryptionKeyRefused = "EncryptionKeyRefused"
	// ReasonScratchFailed means that the pod's own volume failed, or is too small.
	ReasonScratchFailed = "ScratchFailed"
	// ReasonEtcdUnreachable means that no member of the cluster that is to be backed up can be asked.
	ReasonEtcdUnreachable = "EtcdUnreachable"
	// ReasonEtcdAccessDenied means that etcd does not let the client take snapshots: it needs the role root.
	ReasonEtcdAccessDenied = "EtcdAccessDenied"
	// ReasonEtcdFailed means that etcd refused or broke off.
	ReasonEtcdFailed = "EtcdFailed"
	// ReasonEtcdForeign means that another cluster answered than the one that is to be backed up.
	ReasonEtcdForeign = "EtcdForeign"
)
