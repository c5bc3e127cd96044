package task

import (
	"encoding/json"
	"fmt"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Program is the path of the agent in the operator's image.
const Program = "/agent"

// EnvTask is the environment variable that holds the Task as JSON.
const EnvTask = "AGENT_TASK"

// Where a pod has the inputs of its task, if it needs them.
const (
	// CredentialsDir holds the keys of the storage's Secret, CADir ca.crt of its endpoint's authorities.
	CredentialsDir = "/etc/agent/credentials" // #nosec G101 -- a folder
	CADir          = "/etc/agent/ca"
	// KeyDir holds the passphrase or the identities, TLSDir the keys of clientTLSSecret, LoginDir those of passwordSecretRef.
	KeyDir   = "/etc/agent/key"
	TLSDir   = "/etc/agent/tls"
	LoginDir = "/etc/agent/login"
	// StoreDir is the root of file:/// URLs, ScratchDir a volume for trial restores, and for what is buffered for the storage.
	StoreDir   = "/var/agent/store"
	ScratchDir = "/var/agent/scratch"
)

// Keys of Secrets, in addition to those of the storage's (storage.CredentialKeys).
const (
	KeyCA = "ca.crt"
	// KeyPassphrase holds the passphrase that encrypts snapshots.
	KeyPassphrase = "passphrase"
	// KeyIdentity holds identities (secret keys of age) that decrypt what was encrypted to their recipients (public keys).
	KeyIdentity = "identity"
	// Those of clientTLSSecret are coreos/etcd-operator's.
	KeyClientCertificate = "etcd-client.crt"
	KeyClientKey         = "etcd-client.key"
	KeyClientCA          = "etcd-client-ca.crt"
	// KeyPassword holds the password by which a Backup logs in to etcd, whatever its key is called in the Secret, and KeyUsername the
	// user, which is root without it.
	KeyPassword = "password"
	KeyUsername = "username"
)

// EnvRoom is the environment variable that holds how many bytes of the node's disk the container may use before the kubelet
// evicts it, if ScratchDir is on that: the container's limit, which the namespace may have given it, or else what the node has.
const EnvRoom = "AGENT_ROOM"

// ProgressPort serves Progress as JSON, at ProgressPath, over plain HTTP without authentication: it holds no secrets.
const (
	ProgressPort = 8088
	ProgressPath = "/progress"
)

// Task is what a pod does. One of the pointers is set.
type Task struct {
	// Writer is the object that it is done for.
	Writer Writer `json:"writer"`
	// Storage is where the objects are. The names of its Secrets determine which of the folders above exist.
	Storage v1beta2.Storage `json:"storage"`
	// Encrypted is true if KeyDir holds a passphrase.
	Encrypted bool `json:"encrypted,omitempty"`
	// Identity is true if KeyDir holds identities.
	Identity bool `json:"identity,omitempty"`
	// Recipients are public keys that a Backup is encrypted to. KeyDir holds nothing then: it cannot be decrypted.
	Recipients []string `json:"recipients,omitempty"`
	// Timeout is how long it may take in all.
	Timeout time.Duration `json:"timeout"`

	Backup  *Backup  `json:"backup,omitempty"`
	Clean   *Clean   `json:"clean,omitempty"`
	Verify  *Verify  `json:"verify,omitempty"`
	Restore *Restore `json:"restore,omitempty"`
}

// UnmarshalJSON reads the names that Secrets had before the first release, too: pods outlive an upgrade of the operator.
func (t *Task) UnmarshalJSON(data []byte) error {
	type plain Task
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	t.Storage.TakeFormerNames()
	return nil
}

// Backup takes a snapshot, verifies it, deletes what the policy does not retain, and lists what is left.
type Backup struct {
	// Endpoints are client URLs.
	Endpoints []string `json:"endpoints"`
	// TLS is true if TLSDir holds a client certificate.
	TLS bool `json:"tls,omitempty"`
	// Login says where LoginDir's password is from, nil if it is not to log in with one.
	Login *v1beta2.SecretKeyRef `json:"login,omitempty"`
	// Cluster names the EtcdCluster, empty if it is another etcd. Its ID, if known, must be that of the endpoints.
	Cluster Cluster `json:"cluster"`
	// Ancestors are IDs of clusters, in hexadecimal, that the EtcdCluster is known to descend from.
	Ancestors []string `json:"ancestors,omitempty"`
	// Shared is true if it may be written next to the backups of other clusters.
	Shared bool `json:"shared,omitempty"`
	// LegacyKey is the name of the object, or with Periodic what its name begins with, as coreos/etcd-operator has it; empty
	// for a name of this operator's own.
	LegacyKey string `json:"legacyKey,omitempty"`
	Periodic  bool   `json:"periodic,omitempty"`
	Compress  bool   `json:"compress,omitempty"`
	// Verify says how it is checked, Policy which of the writer's backups are kept.
	Verify v1beta2.Verification `json:"verify,omitempty"`
	Policy Policy               `json:"policy"`
	// Doubt is why the data may be wrong, empty if nothing is known of that: then no other backup is deleted.
	Doubt string `json:"doubt,omitempty"`
	// Spool is how many bytes may be buffered for the storage in ScratchDir; none if 0.
	Spool int64 `json:"spool,omitempty"`
	// Run identifies the EtcdBackup's run that it is taken in, empty for an EtcdRestore, each of whose attempts takes one. With Again
	// it is not the first attempt: a snapshot that an earlier one has saved but not verified is verified instead of taking another.
	Run   string `json:"run,omitempty"`
	Again bool   `json:"again,omitempty"`
	// Revision is one that etcd had when the task was created: a snapshot with a lower one is stale, as is one of a member without
	// quorum.
	Revision int64 `json:"revision,omitempty"`
	// AcceptStale makes a stale snapshot a warning. Otherwise it is left in the storage, and the task fails.
	AcceptStale bool `json:"acceptStale,omitempty"`
}

// Clean deletes all that the writer has written.
type Clean struct{}

// Choice selects a snapshot.
type Choice struct {
	// Object is its name; else it is the latest good one, or the latest that was taken before a time.
	Object string    `json:"object,omitempty"`
	Before time.Time `json:"before,omitzero"`
	// Writer restricts it to those that one EtcdBackup has written, or an earlier one of its name; zero for any but EtcdRestores.
	Writer Writer `json:"writer,omitzero"`
	// ClusterID is etcd's, in hexadecimal; if it is set, snapshots of other clusters are ignored.
	ClusterID string `json:"clusterID,omitempty"`
}

// String is for messages: what a snapshot must be, with a space before it.
func (c Choice) String() string {
	text := ""
	if c.Writer.Name != "" {
		text += fmt.Sprintf(" of %s %s/%s", c.Writer.Kind, c.Writer.Namespace, c.Writer.Name)
	}
	if c.ClusterID != "" {
		text += " of the etcd cluster " + c.ClusterID
	}
	if !c.Before.IsZero() {
		text += " from before " + c.Before.UTC().Format(time.RFC3339)
	}
	return text
}

// Verify chooses a snapshot, reads the whole of it, and checks that it can be restored for an etcd version.
type Verify struct {
	Choice
	// EtcdVersion is major.minor.patch of the server that is to run on it.
	EtcdVersion string `json:"etcdVersion"`
	// Trial restores it into ScratchDir, too.
	Trial bool `json:"trial,omitempty"`
}

// Restore creates a member's data from a snapshot, in the member's own pod. An existing data folder is left as it is: the folder is
// created atomically, so it is complete.
type Restore struct {
	// Object is the snapshot's name, and SHA256 that of the object, in hexadecimal, as it was when it was verified.
	Object string `json:"object"`
	SHA256 string `json:"sha256"`
	// Folder is the member's data folder.
	Folder      string   `json:"folder"`
	EtcdVersion string   `json:"etcdVersion"`
	Identity    Identity `json:"identity"`
	// RevisionFloor is the highest revision that clients can have seen of the replaced data, 0 if there was none.
	RevisionFloor int64 `json:"revisionFloor,omitempty"`
}

// Result is the result of a task: the pod's termination message.
type Result struct {
	// Failure is nil if the task succeeded. Its reason is one of those of storages and snapshots in api/v1beta2.
	Failure *failure.Problem `json:"failure,omitempty"`
	// Snapshot is the one that was taken, verified or restored. Together with a Failure it is one that is in the storage but cannot
	// be relied on: stale, or not verified.
	Snapshot *v1beta2.SnapshotStatus `json:"snapshot,omitempty"`
	// Discarded is the name of one that was deleted from the storage because it is damaged.
	Discarded string `json:"discarded,omitempty"`
	// DataVersion is the etcd version of the data of the verified snapshot, major.minor; empty if the data does not say.
	DataVersion string `json:"dataVersion,omitempty"`
	// Database describes the database of a snapshot that a Verify has restored on trial.
	Database *v1beta2.SnapshotDatabase `json:"database,omitempty"`
	// Total is the number of the writer's good backups in the storage after a Backup.
	Total int32 `json:"total,omitempty"`
	// Lineages group them by cluster ID, that of the snapshot first, as far as there is room.
	Lineages []v1beta2.BackupLineage `json:"lineages,omitempty"`
	// Deleted are the names of deleted objects, as far as there is room.
	Deleted []string `json:"deleted,omitempty"`
	// Warnings are other problems than the task's own, such as an old backup that could not be deleted or that is damaged.
	Warnings []string `json:"warnings,omitempty"`
}

// Progress is the progress of a task.
type Progress struct {
	// Step is the current step.
	Step Step `json:"step"`
	// Bytes is how many bytes the step has transferred.
	Bytes int64 `json:"bytes"`
}

// String is for messages.
func (p Progress) String() string {
	if p.Bytes == 0 {
		return string(p.Step)
	}
	return fmt.Sprintf("%s, %d bytes in", p.Step, p.Bytes)
}

// Step is a part of a task.
type Step string

// Steps of tasks.
const (
	StepConnecting Step = "Connecting"
	StepSaving     Step = "Saving"
	StepReading    Step = "Reading"
	StepRestoring  Step = "Restoring"
	StepPruning    Step = "Pruning"
	StepDeleting   Step = "Deleting"
)
