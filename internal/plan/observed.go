package plan

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Observed is everything a decision may depend on: plain data, read in one pass. It can be kept as JSON and replayed (package
// replay), and so can whatever it is made of: IDs are strings there, for many a program keeps of a number but 53 bits.
type Observed struct {
	// Now is the time of the observation.
	Now time.Time
	// Cluster is what the user asked for and what the operator committed to status.
	Cluster Cluster
	// Pods are the pods that carry the cluster's label, terminating ones included.
	Pods []Pod
	// Volumes are the PersistentVolumeClaims that carry the cluster's label, terminating ones included, and those of Record.Kept
	// that are there, whatever they carry: what is not among them is gone.
	Volumes []Volume
	// Etcd is what the servers themselves said.
	Etcd Etcd
	// PrepullPods are the pods that fetch an image to a node before a member there is restarted with it.
	PrepullPods []PrepullPod
	// Budget is the PodDisruptionBudget over the voters.
	Budget Budget
	// Conflicts are objects of others that hold a name that this cluster needs.
	Conflicts []Conflict
}

// Cluster is the desired state and the durable facts of one EtcdCluster.
type Cluster struct {
	Record
	Namespace string
	Name      string
	UID       string
	// Domain is appended to every member's DNS name, for example ".cluster.local"; usually empty.
	Domain string
	// Size is the number of voters asked for, 1 to 9.
	Size int
	// Paused stops every action.
	Paused bool
	// Deleting is true once the object has a deletion timestamp.
	Deleting bool
	// Persistent is true when members are to keep their data on PersistentVolumeClaims rather than emptyDir volumes.
	Persistent bool
	// VolumeSize is the storage that each claim is to ask for, in bytes; 0 if nothing is said.
	VolumeSize int64
	// Repository and Version are where etcd's image comes from and the version that members are to run, such as "3.6.16".
	Repository string
	Version    string
	// Spec is what members are to be made from, as text: it is only compared, and noted.
	Spec string
	// Invalid names what is wrong with the spec. It stops the creation of a cluster. A running one is cared for as the
	// last spec that was right asks.
	Invalid *failure.Problem
	// Restore is the UID of an EtcdRestore whose snapshot has been verified and is to replace the data, empty if there is
	// none, or if it was taken up already.
	Restore string
	// Safety is what that one has saved of the cluster before.
	Safety Safety
	// CancelReason is why the restore under way is to be called off, nil if it is to go on.
	CancelReason *failure.Problem
	// SourceGone is true if the EtcdRestore that says where the snapshot is does not exist any more.
	SourceGone bool
	// SafetySnapshot is the object in which what the restore replaces was saved before, empty if it was not.
	SafetySnapshot string
	// Resuming says which restore was called off, and why, until a quorum of the cluster answers that it was to replace; empty
	// if none was.
	Resuming string
	// WaitsForRestore names the EtcdRestore that the cluster is to start from, empty if it may start from nothing.
	WaitsForRestore string
	// CreateRestore is true if that EtcdRestore is the operator's to create. AwaitFailed says of it, as in "it is over", why it is
	// waited for in vain, and what to do; empty if it is not.
	CreateRestore bool
	WaitFailed    string
}

// Phase is what became of a pod.
type Phase int

// Phases of a pod. Terminal covers Succeeded and Failed: the kubelet never starts such a pod again.
const (
	Pending Phase = iota
	Running
	Finished
)

// Pod is one pod of the cluster. Pod, volume and member of one identity share their name.
type Pod struct {
	Name string
	UID  string
	// Incarnation is the attempt at a start that the pod was made for.
	Incarnation int
	Phase       Phase
	// IP is empty until the pod's sandbox runs.
	IP   string
	Node string
	Zone string
	// Ready is the pod's Ready condition.
	Ready bool
	// Deleting is true once the pod has a deletion timestamp; Deadline is that timestamp, the end of its grace period.
	Deleting bool
	Deadline time.Time
	Created  time.Time
	// StartProblem says why the pod does not run (unschedulable, image not pulled), empty if it does or if that is not known.
	StartProblem string
	// Permit is the permit written on the pod, nil if none. Permitted is when the pod got its first one, zero if none.
	Permit      *member.Permit
	PermittedAt time.Time
	// Exit is the last refusal of member-run, ExitNone while etcd runs.
	Exit Exit
	// RefusedAttempt is the Attempt of the permit that member-run refused with ExitDataLost because it was used, 0 if none.
	RefusedAttempt int
	// InService is true when the pod carries the label that the client Service selects.
	InService bool
	// LeftService is when the operator took that label away, zero while the pod carries it.
	LeftService time.Time
	// Persistent is true when the pod's data is on the claim of its name, false when it is in an emptyDir volume.
	Persistent bool
	// Version is the etcd version of the image that the pod is to run, whatever answers.
	Version string
	// Restarting is true from a change of the image until the kubelet has ended the container that ran before: whatever
	// answers until then is about to go.
	Restarting bool
	// Drift is what the current spec would do differently, the version aside.
	Drift Drift
	// Resizing says why a resize in place is not done yet, empty if none is under way.
	Resizing string
	// ResizeInfeasible is true when the pod's node can never give it the resources that it is to be resized to.
	ResizeInfeasible bool
	// Restores is true for a pod that builds its data from a snapshot before etcd starts. Failure is why it could not the last
	// time, nil while it is at it and once it is done.
	Restores       bool
	RestoreFailure *failure.Problem
	// ReadyChanged is when the pod became Ready or ceased to be.
	ReadyChanged time.Time
	// Legacy is true for a member's pod of coreos/etcd-operator.
	Legacy bool
}

// Volume is one PersistentVolumeClaim of the cluster.
type Volume struct {
	Name string
	UID  string
	// Deleting is true once the claim has a deletion timestamp.
	Deleting bool
	// Lost is the claim's phase Lost: its PersistentVolume is gone.
	Lost bool
	// Incarnation is the attempt at a start that the volume was made for.
	Incarnation int
	// Owned is true when the claim is provably this very EtcdCluster's: made for it, or adopted by it. A claim of an
	// earlier cluster of the same name that was kept on purpose is not owned; one that is going away is a Conflict.
	Owned bool
	// Foreign says whose a claim is that has the cluster's labels and was never a member's of any cluster of the name: a
	// copy, or somebody else's. It is empty for all others. Such a claim is never used and never deleted.
	Foreign string
	// ClusterID and MemberID are written before the first permit for this volume; both zero on a volume never used.
	ClusterID uint64 `json:",string"`
	MemberID  uint64 `json:",string"`
	// Version is the etcd version that the volume's member is to run, empty on a volume never used.
	Version string
	// FromPreviousSpec is true when the volume's member is to be made from the spec before the one that is being carried out.
	FromPreviousSpec bool
	// Requested is the storage that the claim asks for, in bytes.
	Requested int64
	// Expanding is true while the storage that was asked for is not all there.
	Expanding bool
	// NotExpandable is true once Kubernetes has refused to let the volume grow.
	NotExpandable bool
	// Drift is true when the spec asks for another kind of volume: another class, or other access modes.
	Drift bool
	// Legacy is true for a member's volume of coreos/etcd-operator.
	Legacy bool
}

// Budget is the observed PodDisruptionBudget.
type Budget struct {
	Exists       bool
	MinAvailable int
	// Settled is true when the disruption controller has seen the current spec and no eviction is in flight.
	Settled bool
}
