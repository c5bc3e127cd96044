package restore

import (
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// Observed is all that a decision depends on.
type Observed struct {
	Now time.Time
	// Created is when the EtcdRestore was.
	Created time.Time
	// Phase is the last one that was written. Former is true of an object that an earlier operator has answered.
	Phase          v1beta2.RestorePhase
	AnsweredBefore bool
	// Deleting is true while the EtcdRestore is being deleted, and HasFinalizer while it has our finalizer.
	Deleting, HasFinalizer bool
	// Skip is true if what the cluster holds need not be saved.
	Skip bool
	// Timeout is how long one try may take.
	Timeout time.Duration
	// Source is why it is not known where the snapshot is, nil if it is known. It is terminal if no change of another object can
	// help.
	Source *failure.Problem
	// Invalid is what of the spec cannot be carried out, nil if nothing is wrong with it. It does not change.
	Invalid *failure.Problem
	// Verified is true once a snapshot was chosen, read and checked; Saved once the cluster's data was saved.
	Verified, Saved bool
	// OfMember is true if what a surviving member holds is restored, without a quorum: then that is what is saved, before it is verified.
	// Void is why the plan to do so is no longer the cluster's, nil if it is.
	OfMember bool
	Void     *failure.Problem
	// Stale is true if it was saved without a quorum: the cluster may have gone on without whoever gave it.
	Stale bool
	// SavedAt is when it was saved, zero if nobody has noted it.
	SavedAt time.Time
	// UnsavedAsleep is true if nothing was saved because all members were stopped on purpose.
	UnsavedAsleep bool
	// Outdated is true if what was saved is of another cluster ID than the cluster has now.
	Outdated bool
	// Unfit is why the cluster, as it is now, cannot start from the snapshot that was verified, nil if it can.
	Unfit *failure.Problem
	// Of is whose data the snapshot is, in words, if it is another cluster's; empty if it is this one's, or nobody knows.
	Of string
	// Alarms are those that etcd had when the snapshot was taken, in words; empty if it had none.
	Alarms string
	// Newer names a later EtcdRestore of the same cluster that has come as far as this one, or further; empty if there is none.
	Newer   string
	Cluster Cluster
	// Run is the run under way, nil if none is.
	Run *Run
	// Pod is the pod of the run's try, nil if there is none.
	Pod *retry.Pod
	// OrphanedPods are the other pods of this EtcdRestore, of tries that are over.
	OrphanedPods []retry.Pod
}

// Cluster is the EtcdCluster whose data is replaced.
type Cluster struct {
	Name                     string
	Exists, Deleting, Paused bool
	// Pinned is true once the EtcdRestore has noted which cluster it is about, Other if the one of that name is another one.
	Pinned, Other bool
	// Held is true if there may be data to save, whether a quorum was ever seen or not. Answers is true if some members are
	// known to answer, Mute if it is not even known whom to ask, and Asleep if all of them are stopped on purpose.
	Held, Answers, Mute, Asleep bool
	// Volatile are its pods that may have data on an emptyDir, which goes with them, and that are to stay; none unless Held.
	Volatile []string
	// Unsaved is why what it held before the restore under way was not saved for that one; empty if it was, or none is.
	Unsaved string
	// Moved is true if it holds something else than when it was decided whether to save that.
	Moved bool
	// Again is true if its controller waits until what it holds is saved once more.
	Again bool
	// Doing is what its controller says that it is doing. Stranded is true if that is nothing: it can neither complete the
	// restore nor go back.
	Doing    string
	Stranded bool
	// Record is what its controller has noted of this restore, nil if nothing.
	Record *Record
}

// Record is what the EtcdCluster's controller has noted of a restore.
type Record struct {
	// Completed is true once the cluster has run on the restored data, Superseded if a later restore has come between. Latched
	// is true once the new cluster ID was: the restore cannot be canceled any more.
	Completed, Superseded, ClusterIDRecorded bool
	// CalledOff is why the restore was canceled, nil if it was not. CancelDeclined is why it goes on although it was to be.
	Canceled       *failure.Problem
	CancelDeclined string
	// Failure is why the initial member could not make its data of the snapshot the last time, nil if it is at it, or done.
	Failure *failure.Problem
	// Kept are the volumes with what was replaced. Unsaved is true if not all of it is known to be saved.
	Kept    []string
	Unsaved bool
}

// Run is a task that is under way: reading the snapshot while Verifying, saving the cluster's data while Saving.
type Run struct {
	// Attempt counts the tries, from 1. Started is when this one began.
	Attempt int
	Started time.Time
	// Unanswered is how many of the tries before it, or up to it once it has failed, have reached no member to save from.
	Unanswered int
	// RetryAfter is when the next try may begin, zero unless this one has failed; Failure is why it did.
	RetryAfter time.Time
	Failure    string
}
