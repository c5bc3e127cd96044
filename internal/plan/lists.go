package plan

// rule inspects the view and returns the action to take, or nil if it does not apply. Everything that rules have in common is
// computed beforehand (Assessment); a rule never calls another rule.
type rule func(*view) Action

// group is an ordered list of rules that deal with one concern.
type group struct {
	name  string
	rules []rule
	// order says whether the rules after one rely on it.
	order order
}

// order says what becomes of the rules after one whose action the API server refuses.
type order bool

const (
	// strict means that they rely on that action: the search ends there.
	strict order = true
	// lenient means that they are evaluated all the same.
	lenient order = false
)

// guard checks the action that a rule has returned. It returns the action to take instead, or nil if it has no objection.
type guard func(*view, Action) Action

// state lists the groups that apply in one state of a cluster. Rules are evaluated in order, group by group, and the first one
// that returns an action ends the search. The guards then check that action, also in order: the first one that objects replaces
// it with its own. An action is passed over while the API server refuses all of its writes, or all of those that a guard wants
// instead: the search goes on, but in a group of strict order it ends.
type state struct {
	name   string
	groups []group
	guards []guard
}

// The states of a cluster.
var (
	// unstarted lasts until the bootstrap record is committed to status.
	unstarted = state{"unstarted", []group{always, preflight}, startupGuards}
	// bootstrapping and restoring last until the cluster ID is recorded: with an empty database, or from a snapshot.
	bootstrapping = state{"bootstrapping", []group{always, bootstrap, firstStart}, startupGuards}
	restoring     = state{"restoring", []group{always, restoration}, startupGuards}
	// running lasts from then on.
	running = state{"running", []group{always, repair, membership, leadership, scaleUp, updates, housekeeping}, runningGuards}
	// hibernating lasts from the decision to stop all members, which spec.hibernate asks for, until they are to start again.
	hibernating = state{"hibernating", []group{always, hibernation}, hibernationGuards}
)

// state returns the state that the cluster is in.
func (v *view) state() state {
	b := v.Cluster.Bootstrap
	switch {
	case v.Cluster.ID != 0 && v.Cluster.Hibernation == Hibernated:
		return hibernating
	case v.Cluster.ID != 0:
		return running
	case b == nil:
		return unstarted
	case b.Restore != "":
		return restoring
	}
	return bootstrapping
}

// always applies in every state, before anything else.
var always = group{"always", []rule{
	deleting,       // the EtcdCluster is being deleted: the garbage collector removes its objects
	paused,         // spec.paused is true: reconciliation is paused
	legacyMembers,  // pods or volumes of coreos/etcd-operator exist: change nothing next to them
	nameTaken,      // a required name belongs to an object that this cluster does not own
	statusOutdated, // status was put back to before members were started that are there: change nothing
	// The next four precede clusterIDMismatch and revisionRegressed, because a restore, or canceling one, resolves what those two
	// report. startRestore precedes cancelRestore, so that the previous members do not start only to be replaced by a newer restore.
	recordBeforeReplacing, // record the cluster ID of a cluster that is up before a restore, or canceling one, stops it
	waitForSafetySnapshot, // a restore must not replace emptyDir data that is in no safety snapshot: wait
	startRestore,          // an EtcdRestore has verified its snapshot: commit to replacing the data with it
	cancelRestore,         // the restore is canceled, or cannot succeed: go back to the previous members if they can form a quorum
	clusterIDMismatch,     // a pod answers with a different cluster ID: change nothing
	revisionRegressed,     // the revision is lower than one recorded earlier: change nothing
}, strict}

// preflight checks what exists before the first start, and then commits the bootstrap record.
var preflight = group{"preflight", []rule{
	copiedVolume,    // a copy of a member's volume exists: the user has to decide what becomes of it
	adoptVolumes,    // volumes with data of this cluster exist, but no status: adopt them
	ranBefore,       // clients had their data in a cluster that coreos/etcd-operator ran: do not start an empty one
	invalidSpec,     // do not bootstrap from a spec that cannot work
	waitForRestore,  // the cluster is to start from a snapshot: wait for its EtcdRestore
	foreignVolume,   // an initial member's claim is not provably this cluster's
	commitBootstrap, // write the initial members to status before creating any of them
}, strict}

// bootstrap begins, and begins anew, to start the initial members with an empty database.
var bootstrap = group{"bootstrap", []rule{
	foreignVolume,            // an initial member's claim is not provably this cluster's
	reviseBootstrap,          // no member may start yet, and size or volumes have changed or a name is no longer free: revise the record
	recordClusterID,          // a quorum answers with the expected cluster ID: record it in status
	restartBootstrap,         // too many initial members are lost to form a quorum: start another attempt
	deleteAbandonedAttempts,  // delete what abandoned attempts at a restore have left
	deleteEarlierAttempts,    // delete what an earlier attempt has left before creating new pods
	deleteFinishedPods,       // delete pods in phase Succeeded or Failed: the kubelet never restarts them
	deleteOutdatedWaitingPod, // delete a pod that still waits for its permit and was made from an older spec: it is created again
}, strict}

// firstStart has those initial members start that can, if they are a quorum.
var firstStart = group{"firstStart", []rule{
	createInitialMembers, // create the volumes and pods; etcd in them waits for a permit
	bindInitialPods,      // commit to status which pods may start with an empty data directory
	permitInitialPods,    // permit exactly those pods to start etcd
	waitForInitialQuorum, // report what the bootstrap is waiting for
}, lenient}

// restoration starts one member from a snapshot; the others join once the cluster ID is recorded.
var restoration = group{"restoration", []rule{
	foreignVolume,            // the initial member's claim is not provably this cluster's
	recordClusterID,          // the member answers with the expected cluster ID: record it; the restore can no longer be canceled
	retryRestore,             // the restored data was lost, or the spec asks for another volume before it is used: start another attempt
	restoreSourceGone,        // the EtcdRestore no longer exists: stop before anything else is replaced
	deleteAbandonedAttempts,  // delete what abandoned attempts at a restore have left
	stopPreviousMembers,      // stop the members being replaced before creating new pods; keep their volumes
	deleteFinishedPods,       // delete pods in phase Succeeded or Failed: the kubelet never restarts them
	deleteOutdatedWaitingPod, // delete a pod that still waits for its permit and was made from an older spec: it is created again
	fitUnscheduled,           // no node takes a pod that requests what Auto Pilot has chosen: have it request what the spec says
	updateUnstartablePod,     // apply the current spec to a pod that cannot start
	resizeUnstartable,        // give a pod on an emptyDir that cannot start the resources, and a volume the size, of the spec
	createInitialMembers,     // create the volume, and a pod that restores the snapshot and then waits for a permit
	permitRestoredMember,     // permit etcd to start on the restored data
	waitForRestoredMember,    // report what the restore is waiting for
}, strict}

// repair needs no quorum. It ends with quorumLost: without a quorum, no later group is evaluated.
var repair = group{"repair", []rule{
	giveUpTransport,         // the spec asks for no other scheme any more, and nobody was told of it: give it up
	deleteAbandonedAttempts, // delete what abandoned attempts at a restore have left
	deleteFinishedPods,      // delete pods in phase Succeeded or Failed: the kubelet never restarts them
	hibernateAgain,          // all members are to be stopped again before a quorum answers: stop them
	recreateMissingPods,     // recreate a missing pod on its member's volume
	permitRecreatedPods,     // permit a pod without a permit to resume on its member's data
	retreat,                 // Auto Pilot: the first member fails with a new patch release: take it back
	giveUpResize,            // Auto Pilot: a pod cannot be given the CPU or memory that was chosen: all have what they had
	fitUnscheduled,          // no node takes a pod that requests what Auto Pilot has chosen: have it request what the spec says
	updateUnstartablePod,    // apply the current spec to a pod that cannot start
	resizeUnstartable,       // without a quorum: give pods on emptyDirs that cannot start the resources, and volumes the size, of the spec
	recoverQuorum,           // a user has confirmed that a lost quorum stays lost: restore what the survivor holds
	quorumLost,              // without a quorum, do not change the membership: report what is missing
}, lenient}

// membership maintains the voters and the client Service, and removes lost and surplus members.
var membership = group{"membership", []rule{
	raiseBudget,              // raise minAvailable so that evictions leave a quorum of the current voters
	markQuarantined,          // the volume of a quarantined member is to be kept: have its claim say so
	quarantine,               // Auto Pilot: a member's data differs from the majority's: let no client read it, and replace it
	giveUpRelocation,         // Auto Pilot: no new member can take the place of one on a slow disk: it stays
	addToService,             // add healthy voters to the client Service
	promoteLearner,           // promote a learner that has caught up
	removeLostMember,         // remove a member whose data is lost if the other voters are a healthy quorum
	deleteOutdatedWaitingPod, // delete a pod that still waits for its permit and was made from an older spec: it is created again
	deleteOrphans,            // delete pods and volumes whose member is not in etcd's member list
	makeRoom,                 // a database has reached its quota: defragment, compact, and disarm the alarm, if Auto Pilot may
	scaleDown,                // remove a surplus member
}, lenient}

// leadership deals with disks that slow clients down. It precedes scaleUp, because adding members can take long.
var leadership = group{"leadership", []rule{
	restartHungMember,     // restart a member whose disk hangs, so that its clients reconnect to another one
	moveLeaderOffSlowDisk, // move leadership to a member with a faster disk
}, lenient}

// scaleUp adds members, as learners first.
var scaleUp = group{"scaleUp", []rule{
	cancelDowngrade,    // etcd accepts no new member during a downgrade, or the spec no longer asks for one: cancel it
	giveUpCandidate,    // give up a candidate that has not started for a long time, with its claim
	addLearner,         // add new members as learners once their pods have addresses
	permitLearners,     // permit listed learners to start etcd
	createCandidates,   // create the volume and the pod of a new member
	deleteUnusedVolume, // delete a candidate's volume that was never used and is no longer needed, or not what the spec asks for
}, lenient}

// updates brings the members to the spec, one at a time.
var updates = group{"updates", []rule{
	updateInPlace,           // apply labels, resources and volume sizes without restarting etcd
	correctMark,             // a volume names a version that its member's pod does not get: record the one that runs
	prepullImages,           // pull a new image to the members' nodes before restarting any member with it
	updateUnavailableMember, // update a member that is down anyway
	addSuccessor,            // a member is being moved to another node: add the one that takes its place
	waitBeforeNextUpdate,    // hold the next update back until all members are healthy and in sync, nothing is in progress, and no alarm CORRUPT is raised
	snapshotBeforeUpgrade,   // etcd 3.7 cannot read log entries of 3.5: have every member write a snapshot first
	enableDowngrade,         // enable etcd's downgrade before any member runs the lower version
	addReplacement,          // a member has to be replaced: add the new one first
	waitForImage,            // wait until the next member's image is on its node
	updateNextMember,        // update the next member, followers before the leader
	switchTransport,         // clients or peers are to use TLS, or not any more: take the next step once all members serve what the last one says
	deletePrepullPods,       // delete pods that have pulled an image
	defragment,              // give the free pages of a member's database back to the disk, if Auto Pilot may: the leader last
	growQuota,               // what is in use has come close to etcd's quota: raise that, if Auto Pilot may
	followPatch,             // there is a newer patch release of the minor release in the spec: update to it, if Auto Pilot may
	resizeMembers,           // members use most of the CPU or memory that they request, or little for a week: change that, if Auto Pilot may
	relocate,                // a member's disk has been slow for an hour: move it to another node, if Auto Pilot may
}, lenient}

// housekeeping finishes up once the cluster matches the spec, and reports why it does not.
var housekeeping = group{"housekeeping", []rule{
	allowEviction,           // lower minAvailable again: one voter may be evicted
	hibernate,               // all members are to be stopped, and nothing else is left to do
	waitForCompletion,       // report what is still in progress
	reportAlarm,             // etcd has raised an alarm that the user has to resolve
	reportKept,              // members that are too many, or to be stopped, stay, because it is not known whose data is right: report that
	deleteReplacedByRestore, // delete what a restore with safetySnapshot: Skip has replaced; other replaced data is kept
	reportRejectedSpec,      // report which part of the spec cannot be carried out
}, lenient}

// hibernation stops all members, and has them start again. Besides a restore it is the only place where the quorum is given up.
var hibernation = group{"hibernation", []rule{
	wake,           // the members are to run again, or the data of one would end with its pod: leave this state
	stopMembers,    // delete the members' pods; their volumes stay
	stayHibernated, // report that all members are stopped
}, strict}

// startupGuards apply before the cluster ID is recorded: there are no voters to protect yet. During a restore the previous
// members do not count as voters either.
var startupGuards = []guard{
	protectKeptVolumes,    // DeleteVolume: Blocked if a restore has replaced or is to replace its data, or has started etcd on it
	protectForeignVolumes, // DeleteVolume: Blocked if the claim is not provably this cluster's
}

// hibernationGuards protect data. No voter is: all of them are to be stopped.
var hibernationGuards = []guard{
	protectKeptVolumes,    // DeleteVolume: Blocked if a restore has replaced its data
	protectForeignVolumes, // DeleteVolume: Blocked if the claim is not provably this cluster's
}

// runningGuards are the only gate for disruptions of voters (S1) and for deletions (S2).
var runningGuards = []guard{
	protectKeptVolumes,      // DeleteVolume: Blocked if a restore has replaced its data
	protectForeignVolumes,   // DeleteVolume: Blocked if the claim is not provably this cluster's
	requireConfirmedMembers, // RemoveMember, DeletePod, DeleteVolume: Wait until a majority of the voters confirms the member list
	awaitDefragmentation,    // RemoveMember, SetImage, Recreate, DeletePod, Defragment of a voter: Wait while any member is being defragmented
	requireQuorum,           // the same: Wait unless the others are a healthy quorum
	blockEvictions,          // the same: SetBudget first, then Wait until it is in force, so that no eviction adds to the disruption
	learnFromTheRight,       // AddLearner, Promote, WritePermits of a learner: Wait while a member leads whose data is wrong
	raiseBudgetFirst,        // Promote: SetBudget first, so that evictions leave a quorum of the voters including the new one
	commitVotersFirst,       // Promote, RemoveMember of a voter: CommitVoters first, so that status names the voters afterwards
}
