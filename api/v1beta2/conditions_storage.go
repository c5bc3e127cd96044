package v1beta2

// # Storage of backups
//
// In BackedUp of an EtcdBackup and Restored of an EtcdRestore.
const (
	// ReasonStorageMisconfigured means that the storage is described in a way that cannot work.
	//
	// Correct what the message names.
	ReasonStorageMisconfigured = "StorageMisconfigured"
	// ReasonStorageCredentialsRefused means that the storage does not accept the credentials.
	//
	// Correct the Secret, or the pod's cloud identity.
	ReasonStorageCredentialsRefused = "StorageCredentialsRefused"
	// ReasonStorageAccessDenied means that the credentials are known, and not allowed to do what the message names.
	//
	// Give them that right in the storage.
	ReasonStorageAccessDenied = "StorageAccessDenied"
	// ReasonNoSuchBucket means that the bucket does not exist. The folder of a file URL that was deleted during a backup is made
	// again by the next try.
	//
	// Create the bucket, or correct its name.
	ReasonNoSuchBucket = "NoSuchBucket"
	// ReasonNoSuchObject means that the object does not exist, or there is no snapshot to choose.
	//
	// Correct the URL or the name of the snapshot. status.snapshots of the EtcdBackup names the latest ones.
	ReasonNoSuchObject = "NoSuchObject"
	// ReasonObjectArchived means that the object is in an archive of the storage.
	//
	// Bring it back there before it is read.
	ReasonObjectArchived = "ObjectArchived"
	// ReasonObjectLocked means that the storage's own retention, or a hold, keeps an object that was to be deleted or written
	// over.
	//
	// Nothing: a later backup deletes it once that is over. To be told no more, keep backups for longer than the retention.
	ReasonObjectLocked = "ObjectLocked"
	// ReasonObjectChanged means that an object was written over while it was read, or that somebody else has written one of a
	// name that was free. Another try reads the new one, or says whose it is.
	//
	// Nothing. If it happens again, see who else writes there.
	ReasonObjectChanged = "ObjectChanged"
	// ReasonStorageReadOnly means that the storage may be read and not written.
	//
	// Allow the credentials to read, write, list and delete, or mount the volume read-write.
	ReasonStorageReadOnly = "StorageReadOnly"
	// ReasonStorageFull means that the storage, or a quota on it, is full.
	//
	// Make room, or keep fewer backups.
	ReasonStorageFull = "StorageFull"
	// ReasonStorageNotTrusted means that the storage's certificate cannot be verified.
	//
	// Give the certificate of its authority in storage.caBundleRef.
	ReasonStorageNotTrusted = "StorageNotTrusted"
	// ReasonInsecureEndpoint means that a token would be sent in plain text, or that of the pod's own identity to a service that
	// is not of its cloud. Nothing was sent.
	//
	// Use https, or the cloud's own endpoint, or keys instead of tokens; or set storage.allowTokens.
	ReasonInsecureEndpoint = "InsecureEndpoint"
	// ReasonStorageUnreachable means that nobody answers at the storage's address, or not in time, or only to ask for patience.
	// It may go away by itself.
	//
	// If it stays, look at the endpoint, the network and the load of the storage.
	ReasonStorageUnreachable = "StorageUnreachable"
	// ReasonStorageFailed means that the storage failed in a way that has no name here. It may go away by itself.
	//
	// If it stays, look the message up in the storage's documentation.
	ReasonStorageFailed = "StorageFailed"
)

// # Snapshots, and the etcd that they come from
//
// In BackedUp of an EtcdBackup and Restored of an EtcdRestore.
const (
	// ReasonSnapshotDamaged means that a snapshot is not what was written.
	//
	// Use another one: the message names one that is good, where there is one.
	ReasonSnapshotDamaged = "SnapshotDamaged"
	// ReasonSnapshotStalled means that no bytes moved for minutes, between etcd and the storage. Another try follows.
	//
	// If it happens again, look at the network between the pod, etcd and the storage.
	ReasonSnapshotStalled = "SnapshotStalled"
	// ReasonSnapshotVersion means that the etcd that a snapshot is restored for is too old, or too new, to read it.
	//
	// Set spec.version of the EtcdCluster to what the message names, or restore another snapshot.
	ReasonSnapshotVersion = "SnapshotVersion"
	// ReasonSnapshotFailed means that it failed in a way that has no name here.
	//
	// See the message, and the log of the pod, which is kept until the next try.
	ReasonSnapshotFailed = "SnapshotFailed"
	// ReasonEncryptionKeyRefused means that the passphrase is missing, too short, or not the one that was used.
	//
	// Correct the key passphrase of the Secret in encryptionSecretRef.
	ReasonEncryptionKeyRefused = "EncryptionKeyRefused"
	// ReasonScratchFailed means that the pod's own volume failed, or is too small.
	//
	// Give a volume in spec.pod.scratch, of the size that the message names.
	ReasonScratchFailed = "ScratchFailed"
	// ReasonEtcdUnreachable means that no member of the cluster that is to be backed up can be asked.
	//
	// See the EtcdCluster's conditions, or whether the endpoints are right and reachable from the namespace.
	ReasonEtcdUnreachable = "EtcdUnreachable"
	// ReasonEtcdAccessDenied means that etcd does not let the client take snapshots: it needs the role root.
	//
	// Of an EtcdCluster, switch etcd's authentication off: the operator has no user in it. Of another etcd, give the certificate
	// of such a user in spec.clientTLSSecret.
	ReasonEtcdAccessDenied = "EtcdAccessDenied"
	// ReasonEtcdFailed means that etcd refused or broke off. Another try follows.
	//
	// If it happens again, look at etcd's log.
	ReasonEtcdFailed = "EtcdFailed"
	// ReasonEtcdForeign means that another cluster answered than the one that is to be backed up.
	//
	// Correct the endpoints, or find the pod that answers in its place.
	ReasonEtcdForeign = "EtcdForeign"
)
