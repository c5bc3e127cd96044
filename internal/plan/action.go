package plan

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Action is what the operator does next: plain data, carried out by the controllers, one a pass.
//
//sumtype:decl
type Action interface{ describe() Description }

// Idle means that there is nothing to do and nothing to wait for: the spec is reached, or the user said hands off.
type Idle struct{ Reason, Message string }

// Wait means that something is under way. The reason is a condition reason; After is when to look again if no watch
// event comes first.
type Wait struct {
	Reason, Message string
	After           time.Duration
}

// Blocked means that the operator will not act until somebody changes something; the message says what.
type Blocked failure.Problem

// CommitBootstrap writes the bootstrap record to status by compare-and-swap, before any effect that depends on it.
type CommitBootstrap struct {
	Bootstrap Bootstrap
	// UnsavedReason is why what a restore replaces is not known to be saved, empty if it is, or if nothing is replaced.
	UnsavedReason string
}

// CreateRestore creates the EtcdRestore that spec.restoreFrom asks for.
type CreateRestore struct{ Name string }

// CancelRestore ends a restore before the cluster ID of the restored data was latched: it writes to status what that told of the
// cluster before the restore began, by compare-and-swap. The former members start again on their own volumes.
type CancelRestore struct {
	// Why is what is said of the restore.
	Why failure.Problem
	// ClusterID is what the cluster goes back to, 0 if it had never been up.
	ClusterID uint64
	// KeptVolumes are the names of the attempt's volumes that clients may have written to: they are kept.
	KeptVolumes []string
}

// ContinueRestore notes in status that a restore goes on that was to be called off, because the former members cannot come back.
type ContinueRestore struct {
	// Why is what is said of the restore.
	Why failure.Problem
}

// RecordClusterID writes the cluster ID to status: from here on nobody starts with initial-cluster-state=new, and a restore cannot be
// called off any more.
type RecordClusterID struct {
	ClusterID uint64
	// KeptVolumes are the names of the volumes that a restore has replaced and that are kept. Unsaved is true if not all that they hold
	// is known to be saved.
	KeptVolumes []string
	Unsaved     bool
}

// Adopt latches the cluster ID found on retained volumes and makes the volumes this cluster's own.
type Adopt struct {
	ClusterID uint64
	Volumes   []string
}

// CommitVoters writes to status who is to vote after the change that comes next.
type CommitVoters struct{ Voters []string }

// CreateVolumes creates empty claims. One that exists already is an error: look again.
type CreateVolumes struct {
	Names       []string
	Incarnation int
}

// CreatePods creates pods. Permits may be nil: such a pod waits in member-run.
type CreatePods struct{ Pods []NewPod }

// NewPod is one pod to create.
type NewPod struct {
	Name        string
	Incarnation int
	// Persistent is true for a pod on the claim of its name.
	Persistent bool
	// Version is the etcd version that it is to run.
	Version string
	// FromPreviousSpec is true for a pod made from the former spec, for a member that an update has not reached.
	FromPreviousSpec bool
	// Restores is true for a pod that makes its data of the bootstrap's snapshot first.
	Restores bool
	Permit   *member.Permit
}

// WritePermits marks each volume as used by its member and then writes the permit onto its pod.
type WritePermits struct{ Permits []PodPermit }

// PodPermit is one permit for one pod.
type PodPermit struct {
	Pod    string
	UID    string
	Permit member.Permit
}

// AddToService lets client traffic reach the pods.
type AddToService struct{ Pods []string }

// RemoveFromService lets no further client reach a pod that is about to go.
type RemoveFromService struct{ Pod, UID string }

// AddLearner adds a non-voting member.
type AddLearner struct{ Name, PeerURL string }

// Promote makes a learner a voter.
type Promote struct {
	ID   uint64
	Name string
}

// MoveLeader hands leadership to another voter. Slow is the name of the present leader if its disk is why, else empty.
type MoveLeader struct {
	From, To uint64
	Slow     string
}

// RemoveMember takes a member out of etcd's membership. Why is a condition reason.
type RemoveMember struct {
	ID   uint64
	Name string
	Why  string
}

// DeletePod deletes exactly the pod with that UID.
type DeletePod struct{ Name, UID, Why string }

// DeleteVolume deletes exactly the claim with that UID.
type DeleteVolume struct{ Name, UID, Why string }

// SetMetadata gives a pod the labels and annotations that the spec asks for.
type SetMetadata struct{ Name, UID string }

// Resize gives a running pod the resources that the spec asks for. Where Kubernetes refuses, the pod is marked as one
// that takes a new pod.
type Resize struct{ Name, UID string }

// SetImage lets a pod's container restart with the spec's image of that version. The member's volume is marked with the
// version first, so that the pod runs it too should it have to be made again.
type SetImage struct{ Name, UID, Version string }

// Recreate deletes a pod, for it to be made again on its volume, which is first marked with the version to run.
type Recreate struct{ Name, UID, Version string }

// Expand asks for more storage on claims. Where Kubernetes refuses, the claim is marked as fixed in size.
type Expand struct{ Names []string }

// PrepullImages creates pods that fetch an image to nodes.
type PrepullImages struct{ Images []NodeImage }

// NodeImage is one image for one node.
type NodeImage struct{ Node, Image string }

// DeletePrepullPod deletes exactly the fetching pod with that UID.
type DeletePrepullPod struct{ Name, UID string }

// EnableDowngrade tells etcd to go down to that minor version, such as "3.6", and CancelDowngrade not to.
type EnableDowngrade struct{ Version string }

// CancelDowngrade tells etcd to stay at the version that it has. Snapshot is true when every member has written a snapshot
// because of the downgrade.
type CancelDowngrade struct {
	Version  string
	Snapshot bool
}

// SetBudget creates or changes the PodDisruptionBudget.
type SetBudget struct{ MinAvailable int }

// Mutates tells whether the action changes anything: such an action is planned a second time, on live reads.
func Mutates(a Action) bool {
	switch a.(type) {
	case Idle, Wait, Blocked:
		return false
	default:
		return true
	}
}
