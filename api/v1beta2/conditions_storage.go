package v1beta2

// # Storage of backups
//
// In BackedUp of an EtcdBackup and Restored of an EtcdRestore.
const (
	// ReasonStorageMisconfigured means that the storage settings are invalid.
	//
	// Correct what the message names.
	ReasonStorageMisconfigured = "StorageMisconfigured"
	// ReasonStorageCredentialsRefused means that the storage does not accept the credentials.
	//
	// Correct the Secret, or the pod's cloud identity.
	ReasonStorageCredentialsRefused = "StorageCredentialsRefused"
	// ReasonStorageAccessDenied means that the credentials are valid but lack the permission that the message names.
	//
	// Grant them that permission in the storage.
	ReasonStorageAccessDenied = "StorageAccessDenied"
	// ReasonNoSuchBucket means that the bucket does not exist. The folder of a file URL that was deleted during a backup is
	// recreated by the next attempt.
	//
	// Create the bucket, or correct its name.
	ReasonNoSuchBucket = "NoSuchBucket"
	// ReasonNoSuchObject means that the object does not exist, or there is no snapshot to choose from.
	//
	// Correct the URL or the name of the snapshot. status.snapshots of the EtcdBackup names the latest ones.
	ReasonNoSuchObject = "NoSuchObject"
	// ReasonObjectArchived means that the object is in an archive tier of the storage.
	//
	// Restore it from the archive first.
	ReasonObjectArchived = "ObjectArchived"
	// ReasonObjectLocked means that an object that was to be deleted or overwritten is locked by the storage's own retention, or
	// by a legal hold.
	//
	// Nothing: a later backup deletes it once the lock has expired. To avoid the warning, keep backups for longer than the
	// retention.
	ReasonObjectLocked = "ObjectLocked"
	// ReasonObjectChanged means that an object was overwritten while it was read, or another writer has created one with the
	// name of a new backup. The next attempt reads the new one, or says whose it is.
	//
	// Nothing. If it happens again, find out what else writes there.
	ReasonObjectChanged = "ObjectChanged"
	// ReasonStorageReadOnly means that the storage can be read but not written.
	//
	// Allow the credentials to read, write, list and delete, or mount the volume read-write.
	ReasonStorageReadOnly = "StorageReadOnly"
	// ReasonStorageFull means that the storage, or a quota on it, is full.
	//
	// Make room, or keep fewer backups.
	ReasonStorageFull = "StorageFull"
	// ReasonStorageNotTrusted means that the storage's certificate cannot be verified.
	//
	// Give the certificate of its authority in storage.caBundleRef. The older sections s3, abs and gcs lack it: give storage.url in their place.
	ReasonStorageNotTrusted = "StorageNotTrusted"
	// ReasonInsecureEndpoint means that a token would be sent in plain text, or the token of the pod's own identity to a service
	// outside its cloud. Nothing was sent.
	//
	// Use https, or the cloud's own endpoint, or keys instead of tokens; or set storage.allowTokens.
	ReasonInsecureEndpoint = "InsecureEndpoint"
	// ReasonStorageUnreachable means that the storage does not answer, not in time, or throttles requests (429 or 503). It is
	// retried.
	//
	// If it persists, check the endpoint, the network and the load of the storage.
	ReasonStorageUnreachable = "StorageUnreachable"
	// ReasonStorageFailed means that the storage returned an error of no other kind. It is retried.
	//
	// If it persists, look the message up in the storage's documentation.
	ReasonStorageFailed = "StorageFailed"
)

// # Snapshots, and the etcd that they come from
//
// In BackedUp of an EtcdBackup and Restored of an EtcdRestore.
const (
	// ReasonSnapshotDamaged means that a snapshot is corrupt.
	//
	// Use another one: the message names a good one, if there is one.
	ReasonSnapshotDamaged = "SnapshotDamaged"
	// ReasonSnapshotStalled means that no data was transferred between etcd and the storage for minutes. It is retried.
	//
	// If it happens again, check the network between the pod, etcd and the storage.
	ReasonSnapshotStalled = "SnapshotStalled"
	// ReasonSnapshotVersion means that the etcd version of the EtcdCluster is too old, or too new, to read the snapshot.
	//
	// Set spec.version of the EtcdCluster to what the message names, or restore another snapshot.
	ReasonSnapshotVersion = "SnapshotVersion"
	// ReasonSnapshotFailed means that taking, verifying or restoring a snapshot failed with an error of no other kind.
	//
	// See the message, and the log of the pod, which is kept until the next attempt.
	ReasonSnapshotFailed = "SnapshotFailed"
	// ReasonEncryptionKeyRefused means that what a backup is encrypted or decrypted with is missing or wrong: the passphrase is too
	// short or another one, the identity is not that of a recipient, or a recipient is no public key.
	//
	// Correct what the message names: the key passphrase of the Secret in encryptionSecretRef, the key identity of the Secret in
	// identitySecretRef, or encryptionRecipients.
	ReasonEncryptionKeyRefused = "EncryptionKeyRefused"
	// ReasonScratchFailed means that the pod's own volume failed, or is too small.
	//
	// Give a volume in spec.pod.scratch, of the size that the message names.
	ReasonScratchFailed = "ScratchFailed"
	// ReasonEtcdUnreachable means that no member of the cluster that is to be backed up can be reached.
	//
	// See the EtcdCluster's conditions, or check that the endpoints are correct and reachable from the namespace.
	ReasonEtcdUnreachable = "EtcdUnreachable"
	// ReasonEtcdAccessDenied means that etcd's authentication denies the snapshot, which takes the role root, or refuses the password,
	// or that the Secret with the password is missing, lacks the key, or holds no text. A missing Secret is looked for again. What is
	// refused is not tried again before the next backup is due.
	//
	// For an EtcdCluster without TLS for clients, disable etcd's authentication: the operator has no user there. Or back it up as another
	// etcd, by spec.etcdEndpoints; such a snapshot names no EtcdCluster, and cannot be restored into one without TLS. For one with
	// spec.tls.static, put a certificate with the common name root into the Secret in operatorSecret. For another etcd, set
	// spec.passwordSecretRef to the password of such a user, or spec.clientTLSSecret to the certificate of one. A backup that is taken
	// once and was refused is given up: once the Secret is right, create the EtcdBackup anew.
	ReasonEtcdAccessDenied = "EtcdAccessDenied"
	// ReasonEtcdFailed means that etcd returned an error, or closed the connection. It is retried.
	//
	// If it happens again, check etcd's log.
	ReasonEtcdFailed = "EtcdFailed"
	// ReasonEtcdForeign means that an etcd other than the one to be backed up answers: an endpoint has the cluster ID of another cluster.
	// Nothing was saved. The message names the endpoints and their cluster IDs. It is not tried again before the next backup is due.
	//
	// With spec.etcdEndpoints, find out which cluster is the one to back up, and remove the endpoints of any other. A backup that is taken
	// once is given up: create the EtcdBackup anew. For an EtcdCluster, find the pod that answers in a member's place.
	ReasonEtcdForeign = "EtcdForeign"
)
