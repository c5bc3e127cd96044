package plan

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Action is what the operator does next: plain data that the controllers carry out, one action per pass.
//
//sumtype:decl
type Action interface{ describe() Description }

// Idle means that there is nothing to do and nothing to wait for: the cluster matches the spec, is paused, or is being deleted.
type Idle struct{ Reason, Message string }

// Wait means that something is in progress. Reason is a condition reason; After is when to look again if no watch event arrives
// earlier.
type Wait struct {
	Reason, Message string
	After           time.Duration
}

// Blocked means that the operator cannot continue until someone intervenes; the message says how.
type Blocked failure.Problem

// CommitBootstrap writes the bootstrap record to status, by compare-and-swap, before any effect that depends on it.
type CommitBootstrap struct {
	Bootstrap Bootstrap
	// UnsavedReason is why the safety snapshot may lack some of the data that a restore replaces, empty if it is complete or if
	// no data is replaced.
	UnsavedReason string
}

// CreateRestore creates the EtcdRestore that spec.restoreFrom requests, or the one of a recovery from a lost quorum.
type CreateRestore struct {
	Name string
	// Survivor is the member whose data is restored, and Plan the hash of the recovery's plan; both are empty for spec.restoreFrom.
	Survivor, Plan string
}

// CancelRestore cancels a restore before its cluster ID is recorded: by compare-and-swap it writes back to status what that
// said of the cluster before the restore began. The previous members start again on their own volumes.
type CancelRestore struct {
	// Why is what status reports about the restore.
	Why failure.Problem
	// ClusterID is what the cluster goes back to, 0 if it never had one.
	ClusterID uint64
	// KeptVolumes are the names of the attempt's volumes that clients may have written to: they are kept.
	KeptVolumes []string
}

// ContinueRestore records in status that a restore continues although it was to be canceled, because the previous members
// cannot come back.
type ContinueRestore struct {
	// Why is what status reports about the restore.
	Why failure.Problem
}

// RecordClusterID writes the cluster ID to status: from then on no member starts with initial-cluster-state=new, and a restore
// can no longer be canceled.
type RecordClusterID struct {
	ClusterID uint64
	// KeptVolumes are the names of the volumes that a restore has replaced and that are kept. Unsaved is true if the safety
	// snapshot may lack some of their data.
	KeptVolumes []string
	Unsaved     bool
}

// Adopt records the cluster ID found on retained volumes and makes this cluster their owner.
type Adopt struct {
	ClusterID uint64
	Volumes   []string
}

// CommitVoters writes to status who votes after the membership change that follows.
type CommitVoters struct{ Voters []string }

// CommitTransport writes to status how members serve each other and clients, and which scheme these are told to use: the next step of a
// switch between plain text and TLS.
type CommitTransport struct{ Transport member.Transport }

// UpdatePeerURL changes where etcd's member list has the others connect to a voter. Others on their way there are not disturbed: it
// serves them there already.
type UpdatePeerURL struct {
	ID            uint64
	Name, PeerURL string
}

// CreateVolumes creates empty claims. If one exists already that is an error, and the next pass decides anew.
type CreateVolumes struct {
	Names       []string
	Incarnation int
}

// CreatePods creates pods. Their permits may be nil: such a pod waits in member-run.
type CreatePods struct{ Pods []NewPod }

// NewPod is a pod to create.
type NewPod struct {
	Name        string
	Incarnation int
	// Persistent is true for a pod that mounts the claim of its name.
	Persistent bool
	// Version is the etcd version to run.
	Version string
	// FromPreviousSpec is true for a pod of a member that an update has not reached yet: it is made from the previous spec.
	FromPreviousSpec bool
	// Transport is what the member is to serve, as Transport.Served has it.
	Transport member.Transport `json:",omitzero"`
	// Restores is true for a pod that restores the bootstrap record's snapshot first.
	Restores bool
	// Avoid is the node that the pod stays away from, zero if there is none. It is no part of what the pod is compared with.
	Avoid  Avoidance `json:",omitzero"`
	Permit *member.Permit
}

// WritePermits marks each volume as used by its member and then annotates the pod with the permit.
type WritePermits struct{ Permits []PodPermit }

// PodPermit is the permit for one pod.
type PodPermit struct {
	Pod    string
	UID    string
	Permit member.Permit
}

// AddToService adds pods to the client Service.
type AddToService struct{ Pods []string }

// RemoveFromService removes a pod that is about to stop from the client Service.
type RemoveFromService struct{ Pod, UID string }

// AddLearner adds a learner to etcd's membership.
type AddLearner struct{ Name, PeerURL string }

// Promote makes a learner a voter.
type Promote struct {
	ID   uint64
	Name string
}

// MoveLeader hands leadership to another voter. The members' names are only for messages. Slow is the name of the current leader
// if its slow disk is the reason, empty otherwise.
type MoveLeader struct {
	From, To         uint64
	FromName, ToName string
	Slow             string
}

// RemoveMember removes a member from etcd's membership. Why is a condition reason.
type RemoveMember struct {
	ID   uint64
	Name string
	Why  string
}

// DeletePod deletes the pod with exactly that UID.
type DeletePod struct{ Name, UID, Why string }

// DeleteVolume deletes the claim with exactly that UID.
type DeleteVolume struct{ Name, UID, Why string }

// SetMetadata applies the spec's labels and annotations to a pod.
type SetMetadata struct{ Name, UID string }

// Resize applies the spec's resources to a running pod. If Kubernetes refuses, the pod is marked as one that has to be
// recreated. With ToSpec it gets what the spec says although Auto Pilot has chosen something else.
type Resize struct {
	Name, UID string
	ToSpec    bool `json:",omitempty"`
}

// SetImage changes a pod's image to the spec's, at that version, so that its container restarts. The member's volume is marked
// with the version first, so that a recreated pod runs it too.
type SetImage struct{ Name, UID, Version string }

// Recreate deletes a pod for it to be recreated on its volume, which is first marked with the version to run and what to serve.
type Recreate struct{ Name, UID, Version string }

// CorrectMark writes onto a member's volume which version its pod runs. The mark may name another one that the pod never got, because
// the operator ended between the two or the API server refused the change, and the spec was reverted since.
type CorrectMark struct {
	Name, UID, Version string
	// Made is true if the mark has another transport than the pod, too: what the pod was made from is written with it.
	Made bool
}

// MarkQuarantined writes onto the claim with exactly that UID whether its member is quarantined, because its data differs from what a majority of the
// voters agrees on. Whoever finds the claim without a status, as in a cluster that is created again, knows it by that.
type MarkQuarantined struct {
	Name, UID   string
	Quarantined bool
}

// Expand requests more storage for claims. If Kubernetes refuses, the claim is marked as not expandable.
type Expand struct{ Names []string }

// PrepullImages creates pods that pull an image to nodes.
type PrepullImages struct{ Images []NodeImage }

// NodeImage is an image for a node.
type NodeImage struct{ Node, Image string }

// DeletePrepullPod deletes the prepull pod with exactly that UID.
type DeletePrepullPod struct{ Name, UID string }

// EnableDowngrade enables etcd's downgrade to that minor version, such as "3.6".
type EnableDowngrade struct{ Version string }

// CancelDowngrade cancels etcd's downgrade. Snapshot is true if its purpose was to make every member write a snapshot, and all
// have.
type CancelDowngrade struct {
	Version  string
	Snapshot bool
}

// SetBudget creates or changes the PodDisruptionBudget.
type SetBudget struct{ MinAvailable int }

// Compact has etcd give up the history of keys before that revision.
type Compact struct{ Revision int64 }

// Defragment begins to have a voter or learner write its database anew, without the free pages: it serves nobody until that is done. Why is
// a condition reason.
type Defragment struct {
	ID        uint64
	Name, UID string
	Why       string
	// Free is how many bytes that frees, and Pause how long it is expected to take. Both are only for messages.
	Free  int64
	Pause time.Duration
}

// Quarantine writes to status which member is replaced because its data differs from what a majority of the voters agrees on, and which
// volume is kept when it has gone.
type Quarantine struct{ Quarantined }

// CommitRelocation writes to status which member is moved off a node whose disk is slow, or that it stays there.
type CommitRelocation struct{ Relocation }

// CommitHibernation writes to status that all members are to be stopped, or to start again.
type CommitHibernation struct {
	Hibernation Hibernation
	// Members are those that are to be stopped.
	Members []string
}

// CommitTuning writes to status which options etcd is to have instead of the spec's. An update of the members carries it out.
type CommitTuning struct {
	Tuned
	// From is the quota so far, Member the one whose database has come close to it, and FromVolume the size of volumes so far, 0 if that
	// stays, as is FromResources, what members requested. FromVersion is etcd's version so far, empty if that stays, and Because why either is
	// taken back. All are only for people: for messages, and for status to say what is under way.
	From, FromVolume             int64
	FromResources                Resources
	Member, FromVersion, Because string
	// Refused is the release that is rolled back, the zero RefusedPatch if none is.
	Refused RefusedPatch
}

// Disarm takes an alarm of etcd back. The member's name, as in a message, is only for messages.
type Disarm struct {
	Alarm
	Name string
}

// Mutates reports whether the action changes anything: such an action is decided a second time, on live reads.
func Mutates(a Action) bool {
	switch a.(type) {
	case Idle, Wait, Blocked:
		return false
	default:
		return true
	}
}
