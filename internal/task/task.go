package task

import (
	"fmt"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Program is where the operator's image has the agent.
const Program = "/agent"

// EnvTask is the environment variable that holds the Task as JSON.
const EnvTask = "AGENT_TASK"

// Where a pod has what its task needs, if it needs it.
const (
	// CredentialsDir holds the keys of the storage's Secret, CADir ca.crt of those who vouch for its endpoint.
	CredentialsDir = "/etc/agent/credentials" // #nosec G101 -- a folder
	CADir          = "/etc/agent/ca"
	// KeyDir holds the passphrase, TLSDir the keys of clientTLSSecret.
	KeyDir = "/etc/agent/key"
	TLSDir = "/etc/agent/tls"
	// StoreDir is the root of file:/// URLs, ScratchDir a volume for a trial restore, and for what waits for the storage.
	StoreDir   = "/var/agent/store"
	ScratchDir = "/var/agent/scratch"
)

// Keys of Secrets, beside those of the storage's (storage.CredentialKeys).
const (
	KeyCA = "ca.crt"
	// KeyPassphrase holds what snapshots are encrypted with.
	KeyPassphrase = "passphrase"
	// Those of clientTLSSecret are coreos/etcd-operator's.
	KeyClientCertificate = "etcd-client.crt"
	KeyClientKey         = "etcd-client.key"
	KeyClientCA          = "etcd-client-ca.crt"
)

// EnvRoom is the environment variable that holds how many bytes of the node's disk the container may use before the kubelet
// evicts it, if ScratchDir is on that: the container's limit, which the namespace may have given it, or else what the node has.
const EnvRoom = "AGENT_ROOM"

// ProgressPort serves Progress as JSON, at ProgressPath, over plain HTTP to anybody: it holds nothing that is secret.
const (
	ProgressPort = 8088
	ProgressPath = "/progress"
)

// Task is what a pod does. One of the pointers is set.
type Task struct {
	// Writer is the object that asks for it.
	Writer Writer `json:"writer"`
	// Storage is where the objects are. The names of its Secrets tell which folders above there are.
	Storage v1beta2.Storage `json:"storage"`
	// Encrypted is true if KeyDir holds a passphrase.
	Encrypted bool `json:"encrypted,omitempty"`
	// Timeout is how long it may take in all.
	Timeout time.Duration `json:"timeout"`

	Backup  *Backup  `json:"backup,omitempty"`
	Clean   *Clean   `json:"clean,omitempty"`
	Verify  *Verify  `json:"verify,omitempty"`
	Restore *Restore `json:"restore,omitempty"`
}

// Backup takes a snapshot, checks it, deletes what the policy does not keep, and lists what is left.
type Backup struct {
	// Endpoints are client URLs.
	Endpoints []string `json:"endpoints"`
	// TLS is true if TLSDir holds a client certificate.
	TLS bool `json:"tls,omitempty"`
	// Cluster names the EtcdCluster, empty if it is another etcd. Its ID, if known, must be that of the endpoints.
	Cluster Cluster `json:"cluster"`
	// Ancestors are IDs of clusters, in hexadecimal, that the EtcdCluster is known to descend from.
	Ancestors []string `json:"ancestors,omitempty"`
	// Shared is true if it is written also beside somebody else's backups.
	Shared bool `json:"shared,omitempty"`
	// LegacyKey is the name of the object, or with Periodic what its name begins with, as coreos/etcd-operator has it; empty
	// for a name of this operator's own.
	LegacyKey string `json:"legacyKey,omitempty"`
	Periodic  bool   `json:"periodic,omitempty"`
	Compress  bool   `json:"compress,omitempty"`
	// Verify says how it is checked, Policy which of the writer's backups are kept.
	Verify v1beta2.Verification `json:"verify,omitempty"`
	Policy Policy               `json:"policy"`
	// Spool is how many bytes in ScratchDir may wait for the storage; none if 0.
	Spool int64 `json:"spool,omitempty"`
	// Run names the EtcdBackup's run that it is taken in, empty for an EtcdRestore, each of whose tries takes one. With Again it was
	// tried before: what an earlier try of the run has saved, and not checked, is checked instead of being taken once more.
	Run   string `json:"run,omitempty"`
	Again bool   `json:"again,omitempty"`
	// Revision is one that etcd had when the task was made: a snapshot that is below is stale, as is one of a member without
	// a quorum at its back.
	Revision int64 `json:"revision,omitempty"`
	// AcceptStale has a stale snapshot warned of. Else it is left in the storage, and the task fails.
	AcceptStale bool `json:"acceptStale,omitempty"`
}

// Clean deletes all that the writer has written.
type Clean struct{}

// Choice says which snapshot is meant.
type Choice struct {
	// Object is its name; else it is the latest good one, or the latest that was taken before a time.
	Object string    `json:"object,omitempty"`
	Before time.Time `json:"before,omitzero"`
	// Writer restricts it to those that one EtcdBackup has written, or an earlier one of its name; zero for any but EtcdRestores.
	Writer Writer `json:"writer,omitzero"`
	// ClusterID is etcd's, in hexadecimal; if it is given, a snapshot of another cluster is passed over.
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

// Verify chooses a snapshot, reads it whole, and checks that it can be restored for an etcd version.
type Verify struct {
	Choice
	// EtcdVersion is major.minor.patch of the server that is to run on it.
	EtcdVersion string `json:"etcdVersion"`
	// Trial restores it into ScratchDir, too.
	Trial bool `json:"trial,omitempty"`
}

// Restore makes a member's data of a snapshot, in a member's own pod. What is there already is left alone: the folder
// appears at once, so it is whole.
type Restore struct {
	// Object is the snapshot's name, and SHA256 that of the object, in hexadecimal, as it was when it was verified.
	Object string `json:"object"`
	SHA256 string `json:"sha256"`
	// Folder is the member's data folder.
	Folder      string   `json:"folder"`
	EtcdVersion string   `json:"etcdVersion"`
	Identity    Identity `json:"identity"`
	// RevisionFloor is the highest revision that clients can have seen of the data that is replaced, 0 if there was none.
	RevisionFloor int64 `json:"revisionFloor,omitempty"`
}

// Result is how a task ended: the pod's termination message.
type Result struct {
	// Failure is nil if the task succeeded. Its reason is one of those of storages and snapshots in api/v1beta2.
	Failure *failure.Problem `json:"failure,omitempty"`
	// Snapshot is the one that was taken, verified or restored. Beside a Failure it is one that is in the storage, and cannot
	// be relied on: stale, or not checked.
	Snapshot *v1beta2.SnapshotStatus `json:"snapshot,omitempty"`
	// Discarded names one that was in the storage, and was deleted because it is damaged.
	Discarded string `json:"discarded,omitempty"`
	// DataVersion is the etcd version whose data the snapshot is that was verified, major.minor; empty if it says nothing of
	// it.
	DataVersion string `json:"dataVersion,omitempty"`
	// Database is what else is known of a snapshot that was restored on trial by a Verify.
	Database *v1beta2.SnapshotDatabase `json:"database,omitempty"`
	// Total is how many good ones the writer has in the storage after a Backup.
	Total int32 `json:"total,omitempty"`
	// Lineages are whose data these are, that of the snapshot first, as far as there is room.
	Lineages []v1beta2.BackupLineage `json:"lineages,omitempty"`
	// Deleted names what was deleted, as far as there is room.
	Deleted []string `json:"deleted,omitempty"`
	// Warnings are for people: what went wrong beside the task, such as an old backup that could not be deleted or that is
	// damaged.
	Warnings []string `json:"warnings,omitempty"`
}

// Progress is how far a task is.
type Progress struct {
	// Step is what it is at.
	Step Step `json:"step"`
	// Bytes is how many the step has moved.
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
