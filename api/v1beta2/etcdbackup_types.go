package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdBackupSpec says what to back up, where to, and how often.
//
// +kubebuilder:validation:XValidation:rule="has(self.storage) != has(self.storageType)",message="say where to: storage, or storageType with its stanza"
// +kubebuilder:validation:XValidation:rule="!has(self.storageType) || has(self.s3) && self.storageType == 'S3' || has(self.abs) && self.storageType == 'ABS' || has(self.gcs) && self.storageType == 'GCS' || has(self.oss) && self.storageType == 'OSS'",message="give the storage that storageType names: s3, abs, gcs or oss"
// +kubebuilder:validation:XValidation:rule="has(self.etcdCluster) != has(self.etcdEndpoints)",message="say what of: etcdCluster, or etcdEndpoints"
// +kubebuilder:validation:XValidation:rule="!has(self.schedule) || !has(self.backupPolicy) || !has(self.backupPolicy.intervalSeconds) && (!has(self.backupPolicy.backupIntervalInSecond) || self.backupPolicy.backupIntervalInSecond == 0)",message="give schedule or backupPolicy.intervalSeconds (backupIntervalInSecond), not both"
// +kubebuilder:validation:XValidation:rule="!has(self.clientTLSSecret) || has(self.etcdEndpoints)",message="clientTLSSecret belongs to etcdEndpoints"
// +kubebuilder:validation:XValidation:rule="!has(self.passwordSecretRef) || has(self.etcdEndpoints)",message="passwordSecretRef belongs to etcdEndpoints"
// +kubebuilder:validation:XValidation:rule="!has(self.passwordSecretRef) || !has(self.etcdEndpoints) || self.etcdEndpoints.all(e, e.startsWith('https://')) || self.etcdEndpoints.all(e, e.startsWith('http://'))",message="etcdEndpoints: with passwordSecretRef they must all begin with https://, or all with http://, because to any other, or if those with https:// are blocked, the password would be sent unencrypted: write https:// before each, or http:// if that is meant"
// +kubebuilder:validation:XValidation:rule="!has(self.timeZone) || has(self.schedule)",message="timeZone belongs to schedule"
// +kubebuilder:validation:XValidation:rule="!has(self.encryptionRecipients) || !has(self.encryptionSecretRef)",message="give encryptionSecretRef (a passphrase) or encryptionRecipients (public keys), not both"
// +kubebuilder:validation:XValidation:rule="!has(self.encryptionRecipients) || !has(self.verify) || self.verify != 'Restore'",message="verify: Restore decrypts the backup, which takes an identity that an EtcdBackup with encryptionRecipients does not have: set Checksum"
type EtcdBackupSpec struct {
	// etcdCluster is the EtcdCluster to back up.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Cluster to back up",order=0
	EtcdCluster *EtcdClusterRef `json:"etcdCluster,omitempty"`
	// etcdEndpoints are the client URLs of the etcd cluster to back up, which need not be an EtcdCluster.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Endpoints of another etcd",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	EtcdEndpoints []string `json:"etcdEndpoints,omitempty"`
	// clientTLSSecret is a Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Client certificate for it",xDescriptors={"urn:alm:descriptor:io.kubernetes:Secret","urn:alm:descriptor:com.tectonic.ui:advanced"}
	ClientTLSSecret string `json:"clientTLSSecret,omitempty"`
	// passwordSecretRef names the key of a Secret with the password to log in to etcd with, in UTF-8; every byte counts, a line break at the
	// end, too, but etcd looks at the first 72 only. The user is in the Secret's key username, as in one of the type
	// kubernetes.io/basic-auth, or root, and needs the role root. The endpoints begin with https:// all, or with http:// all. Over http://
	// the password and the data are sent unencrypted: whoever is on the way can read them, and log in. The first endpoint that answers gets
	// the password.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Password for it",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	PasswordSecretRef *SecretKeyRef `json:"passwordSecretRef,omitempty"`

	// storage is where the snapshots go, by URL.
	// +kubebuilder:validation:XValidation:rule="!has(self.secret) && !has(self.caSecret)",message="storage.secret is called credentialsSecretRef.name now, and storage.caSecret caBundleRef.name"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Storage",order=21
	Storage *Storage `json:"storage,omitempty"`
	// storageType says which of s3, abs, gcs and oss is set.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Type of storage (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	StorageType StorageType `json:"storageType,omitempty"`

	BackupStorage `json:",inline"`

	// schedule is when to take a backup, in the five fields of cron, or a word such as @daily. Without it and
	// backupPolicy.intervalSeconds a single backup is taken. Of missed backups one is made up for. A backup that fails is
	// retried, with pauses of up to 5 minutes, until the next one is due; a single backup for a day. A failure that no retry can
	// fix is given up at once.
	// +kubebuilder:validation:XValidation:rule="self.matches('^[[:space:]]*(@[^[:space:]]+([[:space:]]+[^[:space:]]+)?|[^[:space:]]+([[:space:]]+[^[:space:]]+){4})?[[:space:]]*$')",message="schedule must have the five fields of cron, such as 30 2 * * *, or be a word such as @daily"
	// +kubebuilder:validation:XValidation:rule="!self.contains('TZ=')",message="schedule: name the time zone in timeZone, not here"
	// +kubebuilder:validation:MaxLength=256
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Schedule",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=22
	Schedule string `json:"schedule,omitempty"`
	// timeZone of the schedule, such as Europe/Berlin; UTC by default. A backup due in an hour that daylight saving time skips is
	// not taken, and one due in an hour that it repeats is taken twice.
	// +kubebuilder:validation:XValidation:rule="self != 'Local'",message="timeZone must be one of the IANA database, such as Europe/Berlin"
	// +kubebuilder:validation:MaxLength=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Time zone",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=23
	TimeZone string `json:"timeZone,omitempty"`
	// suspend suspends new backups. One that is in progress continues.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Suspended",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"},order=29
	Suspend bool `json:"suspend,omitempty"`
	// backupPolicy says how often backups are taken, how long one may take, and which are retained.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="How many are kept",order=24
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`
	// compression of the objects; Zstd by default, and None if storageType is set, for programs that read such objects
	// themselves.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Compression",order=27
	Compression Compression `json:"compression,omitempty"`
	// encryptionSecretRef names a Secret whose key passphrase encrypts the objects (with age) before they are uploaded, and decrypts
	// them. If it is lost, so are the backups.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Passphrase",order=26
	EncryptionSecretRef SecretRef `json:"encryptionSecretRef,omitzero"`
	// encryptionRecipients are public keys that the objects are encrypted to (with age) before they are uploaded, in place of
	// encryptionSecretRef. The identity (secret key) of any one of them decrypts the objects, and nothing else does: whoever takes
	// backups cannot read them. If all identities are lost, so are the backups. An EtcdRestore has one in identitySecretRef.
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.matches('^age1[a-z0-9]{58}$'))",message="encryptionRecipients must be public keys as age-keygen prints them: age1, and 58 lower-case letters and digits"
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Public keys of the readers",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=26
	EncryptionRecipients []string `json:"encryptionRecipients,omitempty"`
	// encryptionSecret is what encryptionSecretRef was called before the first release. An object that has it since then is not
	// carried out, and no other is taken: without the field the API server would leave it out, and nobody would know.
	// +kubebuilder:validation:XValidation:rule="self == ''",message="encryptionSecret is called encryptionSecretRef.name now"
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Passphrase (former name)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	FormerEncryptionSecret string `json:"encryptionSecret,omitempty"`
	// verify says how each backup is verified after it was written.
	// +kubebuilder:validation:Enum=None;Checksum;Restore
	// +kubebuilder:default=Checksum
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Verification",order=25
	Verify Verification `json:"verify,omitempty"`
	// deletionPolicy says what happens to the backups in the storage when the EtcdBackup is deleted.
	// +kubebuilder:default=Retain
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Objects of a deleted EtcdBackup",order=28
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// prefixPolicy says whether the storage may also hold backups of a cluster that this one does not descend from; Exclusive by
	// default: then the first backup is refused, and with etcdEndpoints any that is not of the same etcd cluster as the last one.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Backups of others beside these",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=28
	PrefixPolicy PrefixPolicy `json:"prefixPolicy,omitempty"`
	// pod configures the pods that do the work.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pods that do the work",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"},order=30
	Pod *AgentPodPolicy `json:"pod,omitempty"`
}

// PrefixPolicy says whether several clusters may have backups in the same storage: Exclusive keeps them apart, so that the latest
// one there is always this cluster's; with Shared a restore must set clusterID.
//
// +kubebuilder:validation:Enum=Exclusive;Shared
type PrefixPolicy string

// Prefix policies.
const (
	PrefixExclusive PrefixPolicy = "Exclusive"
	PrefixShared    PrefixPolicy = "Shared"
)

// Compression of a backup.
//
// +kubebuilder:validation:Enum=Zstd;None
type Compression string

// Compressions.
const (
	CompressionZstd Compression = "Zstd"
	CompressionNone Compression = "None"
)

// Verification says how a backup is verified: None trusts the storage, Checksum reads the object back and compares it,
// Restore also restores it into scratch space and compares its content. Status has Ciphertext for what Checksum does to a backup that
// its writer cannot decrypt: the object, read back, is the one that was uploaded.
type Verification string

// Verifications.
const (
	VerifyNone       Verification = "None"
	VerifyCiphertext Verification = "Ciphertext"
	VerifyChecksum   Verification = "Checksum"
	VerifyRestore    Verification = "Restore"
)

// DeletionPolicy says what happens to the backups in the storage.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

// Deletion policies.
const (
	DeletionRetain DeletionPolicy = "Retain"
	DeletionDelete DeletionPolicy = "Delete"
)

// BackupPolicy says how often backups are taken, how long one may take, and which are retained. A backup is retained if maxBackups
// or keep selects it and it is younger than maxAge; the last good one of each etcd cluster ID always is. The backups of each
// cluster ID are counted separately.
//
// +kubebuilder:validation:XValidation:rule="!has(self.timeoutSeconds) || !has(self.timeoutInSecond) || self.timeoutInSecond == 0",message="give timeoutSeconds or timeoutInSecond, not both: timeoutInSecond is what coreos/etcd-operator called it"
// +kubebuilder:validation:XValidation:rule="!has(self.intervalSeconds) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0",message="give intervalSeconds or backupIntervalInSecond, not both: backupIntervalInSecond is what coreos/etcd-operator called it"
type BackupPolicy struct {
	// timeoutSeconds is how long one attempt at a backup may take, its verification included; 3600 by default, and 60 with
	// storageType, as with coreos/etcd-operator. A verification that times out is made by the next attempt, which has the whole
	// time for it.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3153600000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Time-out in seconds",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	TimeoutSeconds int64 `json:"timeoutSeconds,omitempty"`
	// intervalSeconds is the time between two backups. Without it and schedule a single backup is taken.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3153600000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Interval in seconds",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	IntervalSeconds int64 `json:"intervalSeconds,omitempty"`
	// timeoutInSecond is coreos/etcd-operator's name of timeoutSeconds, with the same meaning; 0 means absent. Use timeoutSeconds in
	// new manifests.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3153600000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Time-out in seconds (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	LegacyTimeout int64 `json:"timeoutInSecond,omitempty"`
	// backupIntervalInSecond is coreos/etcd-operator's name of intervalSeconds, with the same meaning; 0 means absent. Use
	// intervalSeconds in new manifests.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3153600000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Interval in seconds (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	LegacyInterval int64 `json:"backupIntervalInSecond,omitempty"`
	// maxBackups is how many of the latest backups are retained, in addition to those that keep selects. 0 means no limit, unless
	// keep is set: then all backups of the latest hour, day, week or month (the shortest period that keep sets) are retained
	// until the next one starts.
	// +kubebuilder:validation:Minimum=0
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Latest to keep",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number"},order=24
	MaxBackups int32 `json:"maxBackups,omitempty"`
	// maxAge is how long a backup is retained, such as 720h; no limit if empty.
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="maxAge must be more than 0, in hours, minutes and seconds, such as 720h"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Age to keep",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=24
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
	// keep thins out older backups: it retains the latest one of each hour, day, week and month, for the given number of them;
	// backups that neither it nor maxBackups selects are deleted. With only daily: 7, all of today's are retained, and the last
	// one of each of the six previous days that have one.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Older ones to keep",order=24
	Keep *KeepPolicy `json:"keep,omitempty"`
}

// FinalizerObjects keeps an EtcdBackup whose deletionPolicy is Delete until its backups are deleted. It is removed as soon as the
// policy is Retain.
const FinalizerObjects = "etcd.database.coreos.com/objects"

// EtcdBackup is a backup of an etcd cluster, taken once or periodically. A single backup is complete when it has succeeded,
// and later edits of the spec have no effect; if it was given up, an edit of the spec starts it again.
//
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must have at most 63 characters: it is the value of a label on the pods"
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=etcdbk,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.conditions[?(@.type=="BackedUp")].reason`
// +kubebuilder:printcolumn:name="Last success",type=date,JSONPath=`.status.lastSuccessDate`
// +kubebuilder:printcolumn:name="Snapshots",type=integer,JSONPath=`.status.snapshotCount`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Progressing")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`,priority=1
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextScheduleTime`,priority=1
// +kubebuilder:printcolumn:name="Storage",type=string,JSONPath=`.spec.storage.url`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="BackedUp")].message`,priority=1
// +operator-sdk:csv:customresourcedefinitions:displayName="etcd Backup",resources={{Pod,v1},{Event,v1}},order=2
type EtcdBackup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says what to back up, where to, and how often.
	// +required
	Spec EtcdBackupSpec `json:"spec"`
	// status is the state of the backups.
	// +optional
	Status EtcdBackupStatus `json:"status,omitzero"`
}

// EtcdBackupList is a list of EtcdBackups.
//
// +kubebuilder:object:root=true
type EtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []EtcdBackup `json:"items"`
}
