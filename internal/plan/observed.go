package plan

import (
	"cmp"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Observed is everything that a decision may depend on: plain data, read in one pass. It can be stored as JSON and replayed
// (package replay), and so can everything that it is made of: IDs are strings there, because many programs keep only 53 bits of
// a number.
type Observed struct {
	// Now is the time of the observation.
	Now time.Time
	// Cluster is what the user has requested and what the operator has committed to status.
	Cluster Cluster
	// Pods are the pods with the cluster's label, including terminating ones.
	Pods []Pod
	// Volumes are the PersistentVolumeClaims with the cluster's label, including terminating ones, and those of Record.KeptUIDs
	// that exist, whatever their labels: a kept volume that is not among them no longer exists.
	Volumes []Volume
	// Etcd is what the etcd servers have reported.
	Etcd Etcd
	// PrepullPods are the pods that pull an image to a node before a member there is restarted with it.
	PrepullPods []PrepullPod
	// Budget is the PodDisruptionBudget for the voters.
	Budget Budget
	// Conflicts are objects of other owners with a name that this cluster may require.
	Conflicts []Conflict
	// Refused are the writes that the API server has refused and that were not successful since, sorted by target.
	Refused []Refusal
	// MayDisturb is true if Auto Pilot may disturb this cluster's clients now: it is doing so already, or is among the few clusters of the
	// operator that may begin. What would disturb them is held otherwise, with the reason WaitingForBrake. Nothing else depends on it.
	MayDisturb bool `json:",omitempty"`
}

// Cluster is the desired state and the durable facts of an EtcdCluster.
type Cluster struct {
	Record
	Namespace string
	Name      string
	UID       string
	// Domain is appended to every member's DNS name, for example ".cluster.local"; usually empty.
	Domain string
	// SpecTransport is the transport that the spec asks for. It takes effect with the next attempt to start, and in a running cluster
	// step by step: see switchTransport. Until then the members have the Record's.
	SpecTransport member.Transport `json:",omitzero"`
	// Certified is true if every member has the certificates that SpecTransport takes, and the operator one that they accept.
	Certified bool `json:",omitempty"`
	// ClientsRead is when clients have read by which scheme they are told to connect: until then they are served by both. It is zero if
	// nobody has been told anything new.
	ClientsRead time.Time `json:",omitzero"`
	// Size is the requested number of voters, 1 to 9.
	Size int
	// Paused stops every action.
	Paused bool
	// Deleting is true once the object has a deletion timestamp.
	Deleting bool
	// Hibernate is true if all members are to be stopped.
	Hibernate bool `json:",omitempty"`
	// QuorumLostSince is since when no quorum answered, as of the last pass; zero if one did, or the members were stopped on purpose.
	QuorumLostSince time.Time `json:",omitzero"`
	// Persistent is true if members keep their data on PersistentVolumeClaims rather than emptyDir volumes.
	Persistent bool
	// VolumeSize is the storage that each claim requests, in bytes; 0 if unspecified. SpecVolumeSize is that by the spec, whatever Auto Pilot
	// has made of it.
	VolumeSize     int64
	SpecVolumeSize int64 `json:",omitempty"`
	// Repository and Version are the repository of etcd's image, empty if none is named, and the version that members are to run, such as
	// "3.6.16".
	Repository string
	Version    string
	// NewestPatch is the newest release that the operator is tested with of the minor release in the spec, empty if the spec does not name just
	// a minor release. Version is of that minor release, too, unless the spec is refused.
	NewestPatch string `json:",omitempty"`
	// RefusedElsewhere is when that release was last rolled back in another cluster of the operator, or the one that was chosen here and given to no
	// member yet; zero if none was, or that is not RefusedLately. It is looked at only while PatchDue.
	RefusedElsewhere time.Time `json:",omitzero"`
	// Backup is the newest verified snapshot of this cluster's data, zero if none is known. It is looked for only while PatchDue.
	Backup RecoveryBackup `json:",omitzero"`
	// Pinned are the images that are known by their digests.
	Pinned version.Pinned `json:",omitempty"`
	// Spec is the part of the spec that members are made from, as text: it is only compared and recorded.
	Spec string
	// Autopilot is what may be done beyond that spec.
	Autopilot Autopilot `json:",omitzero"`
	// Quota is the size of a database, in bytes, from which on a member made from that spec takes no writes, 0 if there is no limit.
	// SpecQuota is that by the spec, whatever Auto Pilot has made of it.
	Quota, SpecQuota int64 `json:",omitempty"`
	// SpecResources is what the spec has etcd's container request and be limited to, whatever Auto Pilot has made of it; what is only limited is
	// requested in full.
	SpecResources Requirements `json:",omitzero"`
	// BackingUp names an object that has a snapshot of the cluster taken now, such as "EtcdBackup nightly"; empty if none does. It is
	// looked at together with the members' Databases, and while a cluster that wakes up is to hibernate again.
	BackingUp string `json:",omitempty"`
	// Invalid is what is wrong with the spec. It prevents a cluster from being created. A running one is managed according to
	// the last valid spec.
	Invalid *failure.Problem
	// Restore is the UID of an EtcdRestore whose snapshot has been verified and is to replace the data, empty if there is none,
	// or if its restore has begun already.
	Restore string
	// Safety describes the safety snapshot of that EtcdRestore.
	Safety Safety
	// RestorePlan is the hash of the recovery's plan that it carries out, empty if it restores a snapshot that was taken before.
	// RestoreSurvivor is the member whose data that is.
	RestorePlan, RestoreSurvivor string `json:",omitempty"`
	// Recovery is what was asked for in case of a lost quorum.
	Recovery RecoveryPolicy `json:",omitzero"`
	// CancelReason is why the restore in progress is to be canceled, nil if it is to continue.
	CancelReason *failure.Problem
	// SourceGone is true if the EtcdRestore with the location of the snapshot no longer exists.
	SourceGone bool
	// SafetySnapshot is the object that holds the safety snapshot of the data being replaced, empty if there is none.
	SafetySnapshot string
	// Resuming says which restore was canceled, and why, until a quorum of the previous members answers; empty if none was.
	Resuming string
	// WaitsForRestore names the EtcdRestore that the cluster is to start from, empty if it may start with an empty database.
	WaitsForRestore string
	// CreateRestore is true if the operator has to create that EtcdRestore. WaitFailed says why the cluster waits for it in
	// vain, and what to do, as the rest of a sentence such as "has failed: SnapshotDamaged"; empty if it does not.
	CreateRestore bool
	WaitFailed    string
}

// Phase is the phase of a pod.
type Phase int

// The phases of a pod. Finished is Succeeded or Failed: the kubelet never restarts such a pod.
const (
	Pending Phase = iota
	Running
	Finished
)

// Pod is a pod of the cluster. The pod, the volume and the member of one identity have the same name.
type Pod struct {
	Name string
	UID  string
	// Incarnation is the attempt to start that the pod was created for.
	Incarnation int
	Phase       Phase
	// IP is empty until the pod's sandbox runs.
	IP   string
	Node string
	Zone string
	// Ready is the pod's Ready condition. NotReadyByKubelet is true if the kubelet has said why the pod is not Ready. The node controller, which says
	// so once it does not hear the node, gives no reason, and leaves the kubelet's where there is one.
	Ready             bool
	NotReadyByKubelet bool `json:",omitempty"`
	// Deleting is true once the pod has a deletion timestamp; Deadline is that timestamp, the end of its grace period.
	Deleting bool
	Deadline time.Time
	Created  time.Time
	// StartProblem says why the pod does not run (unschedulable, image not pulled), empty if it does or if the reason is
	// unknown.
	StartProblem string
	// Unpulled is true if that is etcd's image, which is not on the node and does not get there.
	Unpulled bool `json:",omitempty"`
	// ProblemAnywhere is true if a new pod would have that problem, too: the image of one of the containers is not on the node and does not get there, or
	// a Secret or ConfigMap that one names is missing.
	ProblemAnywhere bool `json:",omitempty"`
	// SidecarNotReady is true if etcd's container is ready, as its probe finds, and another one of the pod is not.
	SidecarNotReady bool `json:",omitempty"`
	// WaitsFor says what a pod in phase Pending waits for, as far as Kubernetes states it: it may come at any moment, or never.
	WaitsFor string
	// Permit is the permit on the pod, nil if there is none. PermittedAt is when the pod got its first one, zero if it never
	// did.
	Permit      *member.Permit
	PermittedAt time.Time
	// RemindedAt is when the pod's kubelet was last told that there is a permit, zero if only by the permit itself.
	RemindedAt time.Time
	// Exit is why etcd does not run, ExitNone while it does.
	Exit Exit
	// RefusedAttempt is the Attempt of the permit that member-run has refused with ExitDataLost because it was used before, 0 if
	// none.
	RefusedAttempt int
	// InService is true if the pod has the label that the client Service selects.
	InService bool
	// LeftService is when the operator removed that label, zero while the pod has it.
	LeftService time.Time
	// Persistent is true if the pod's data is on the claim of its name, false if it is on an emptyDir.
	Persistent bool
	// StorageLimit is how many bytes of its node's disk the pod may use, 0 if that is not limited: the kubelet evicts one that uses more.
	StorageLimit int64 `json:",omitempty"`
	// Version is the etcd version of the image that the pod is to run, whatever its server reports.
	Version string
	// Image is the pod's image by its digest, as the pod names it or as the runtime says, empty if that is not known.
	Image string `json:",omitempty"`
	// Quota is the size of the database, in bytes, from which on etcd in this pod takes no writes, by the options that it is started with, whatever
	// its version; 0 if there is no limit, or if the pod does not say.
	Quota int64 `json:",omitempty"`
	// Restarts is how often etcd's container has been started again in the pod.
	Restarts int `json:",omitempty"`
	// Replaced is true if the container that ended last is one that a change of the image was to replace.
	Replaced bool `json:",omitempty"`
	// Restarting is true after a change of the image until the kubelet has stopped the previous container: a server that answers
	// until then is about to stop.
	Restarting bool
	// Drift is how the pod differs from the current spec, apart from the version.
	Drift Drift
	// OtherImage is true if a pod of that version made now would have another image, if only by its digest. That alone restarts nobody.
	OtherImage bool `json:",omitempty"`
	// Transport is what the pod's member serves.
	Transport member.Transport `json:",omitzero"`
	// Resizing says why a resize in place is not complete, and since when, empty and zero if none is in progress.
	Resizing string
	// ResizeRestarts is true if the kubelet starts etcd anew when its container is resized.
	ResizeRestarts bool      `json:",omitempty"`
	ResizingSince  time.Time `json:",omitzero"`
	// Unseen is true until the kubelet has seen what was asked of it last. One that does not say is taken to have.
	Unseen bool `json:",omitempty"`
	// ResizeInfeasible is true if the pod's node can never provide the requested resources.
	ResizeInfeasible bool
	// Requests is what etcd's container requests. Untuned is true if that is what the spec says although Auto Pilot has chosen something else, and
	// ResizeRefused if Kubernetes has refused what Auto Pilot has chosen for this pod; neither is a Drift.
	Requests               Resources `json:",omitzero"`
	Untuned, ResizeRefused bool      `json:",omitempty"`
	// Restores is true for a pod that restores a snapshot before etcd starts. RestoreFailure is why the last attempt failed, nil
	// while one is in progress and once it has succeeded.
	Restores       bool
	RestoreFailure *failure.Problem
	// ReadyChanged is the last transition of the pod's Ready condition, and Prepared that of those that say whether its node has made its sandbox and
	// run its init containers; zero if there is none.
	ReadyChanged time.Time
	Prepared     time.Time `json:",omitzero"`
	// Avoids is the node that the pod must not be on, because it is to take the place of a member there; empty for all others.
	Avoids string `json:",omitempty"`
	// Legacy is true for a pod of coreos/etcd-operator.
	Legacy bool
}

// Volume is a PersistentVolumeClaim of the cluster.
type Volume struct {
	Name string
	UID  string
	// Deleting is true once the claim has a deletion timestamp.
	Deleting bool
	// Lost is the claim's phase Lost: its PersistentVolume no longer exists.
	Lost bool
	// Incarnation is the attempt to start that the volume was created for.
	Incarnation int
	// Owned is true if the claim is provably this very EtcdCluster's: created for it, or adopted by it. A claim that was
	// retained from an earlier cluster of the same name is not owned; one of such a cluster that is about to go is a Conflict.
	Owned bool
	// Foreign describes the owner of a claim that has the cluster's labels and never belonged to a member of any cluster of that
	// name: a copy, or another owner's claim. It is empty for all others. Such a claim is never used and never deleted.
	Foreign string
	// ClusterID and MemberID are written before the first permit for this volume; both are zero on one never used.
	ClusterID uint64 `json:",string"`
	MemberID  uint64 `json:",string"`
	// Quarantined is true once the claim is marked as that of a quarantined member.
	Quarantined bool `json:",omitempty"`
	// Transport is what the pod on the volume is to serve: that of the attempt that the volume was created in, or what its member was
	// updated to since.
	Transport member.Transport `json:",omitzero"`
	// Version is the etcd version that the volume's member is to run, empty on a volume never used.
	Version string
	// FromPreviousSpec is true if the pod on the volume is to be made from the previous spec, because an update has not reached
	// its member yet.
	FromPreviousSpec bool
	// Requested is the storage that the operator has had the claim request, in bytes.
	Requested int64
	// Capped is what it requests in fact if an admission webhook has made that less, in bytes; 0 otherwise.
	Capped int64 `json:",omitempty"`
	// Expanding is true until the requested storage is available.
	Expanding bool
	// NotExpandable is true once Kubernetes has refused to expand the volume.
	NotExpandable bool
	// Drift is true if the spec asks for another kind of volume: another storage class, or other access modes.
	Drift bool
	// Legacy is true for a volume of coreos/etcd-operator.
	Legacy bool
}

// room is the storage that there is, as far as the claim tells, in bytes; 0 if it does not.
func (c Volume) room() int64 { return cmp.Or(c.Capped, c.Requested) }

// Budget is the observed PodDisruptionBudget.
type Budget struct {
	Exists       bool
	MinAvailable int
	// Settled is true if the disruption controller has seen the current spec and no eviction is in flight.
	Settled bool
}
