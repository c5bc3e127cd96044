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
	// ReasonNoSuchBucket means that the bucket does not exist: create it, or correct its name.
	ReasonNoSuchBucket = "NoSuchBucket"
	// ReasonNoSuchObject means that the object does not exist.
	ReasonNoSuchObject = "NoSuchObject"
	// ReasonStorageReadOnly means that the storage may be read and not written.
	ReasonStorageReadOnly = "StorageReadOnly"
	// ReasonStorageAccessDenied means that the credentials are known, and not allowed to do what the message names.
	ReasonStorageAccessDenied = "StorageAccessDenied"
	// ReasonStorageFull means that the storage, or a quota on it, is full: make room, or keep fewer backups.
	ReasonStorageFull = "StorageFull"
	// ReasonStorageNotTrusted means that the storage's certificate cannot be verified: give its authority's.
	ReasonStorageNotTrusted = "StorageNotTrusted"
	// ReasonStorageUnreachable means that nobody answers at the storage's address, or only to ask for patience. It may go
	// away by itself.
	ReasonStorageUnreachable = "StorageUnreachable"
	// ReasonStorageTimeout means that the storage did not answer in time. It may go away by itself.
	ReasonStorageTimeout = "StorageTimeout"
	// ReasonStorageFailed means that the storage failed in a way that has no name here. It may go away by itself.
	ReasonStorageFailed = "StorageFailed"
)
