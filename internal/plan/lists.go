package plan

// rule looks at the view and answers with an action, or with nil when it has nothing to say. What it needs to know is worked out
// before any rule is asked (Assessment): none calls another.
type rule func(*view) Action

// group is a list of rules about one matter.
type group struct {
	name  string
	rules []rule
}

// guard looks at what a rule has answered, and says what is done instead, or nil if it has nothing to say against it.
type guard func(*view, Action) Action

// state is all that is asked in one state of a cluster: its groups in order, and in each its rules in order, until one answers.
// No later rule is asked then. The guards are asked in order about that answer, and the first that has something to say against
// it takes its place.
type state struct {
	name   string
	groups []group
	guards []guard
}

// The states that a cluster can be in.
var (
	// beginning lasts until it is written down how the cluster starts.
	beginning = state{"beginning", []group{always, commitment}, beforeLatch}
	// starting and restoring last from then on until the cluster ID is latched: it starts from nothing, or from a snapshot.
	starting  = state{"starting", []group{always, start}, beforeLatch}
	restoring = state{"restoring", []group{always, restoration}, beforeLatch}
	// running lasts from then on.
	running = state{"running", []group{always, repair, membership, leadership, growth, updates, housekeeping}, afterLatch}
)

// state is the one that the cluster is in.
func (v *view) state() state {
	b := v.Cluster.Bootstrap
	switch {
	case v.Cluster.ID != 0:
		return running
	case b == nil:
		return beginning
	case b.Restore != "":
		return restoring
	}
	return starting
}

// always comes first, whatever state the cluster is in.
var always = group{"always", []rule{
	deleting,      // the garbage collector does the rest
	paused,        // hands off
	legacyMembers, // members of coreos/etcd-operator: nothing is done beside them, whatever else there is to say
	nameTaken,     // an object of somebody else is in the way
	// The next four come before foreignCluster and revisionRegressed: a restore, or calling one off, is the way out of what those
	// two find. restore comes before callOff, so that nobody goes back only to be replaced by a later restore.
	latchFirst,        // what is up is latched before a restore or a call-off takes it away
	lastCopy,          // nobody could keep what is on an emptyDir and was not saved: it is not replaced
	restore,           // a verified snapshot is to take the place of whatever data there is
	callOff,           // the cluster goes back to what it held, if it can, while nobody could use the new one yet
	foreignCluster,    // a server answers for another cluster: never act on it
	revisionRegressed, // the data went back in time: never act on it
}}

// commitment writes down how the cluster starts, or has somebody see to what is there already.
var commitment = group{"commitment", []rule{
	copied,          // perhaps data of the cluster, and somebody must say so: nothing is started beside it
	adoptVolumes,    // data of an earlier cluster of this name: take it up, never start empty beside it
	ranBefore,       // nothing is started from nothing where clients had their data
	invalidSpec,     // nothing is started from a spec that cannot work
	awaitRestore,    // nothing is started from nothing that is to start from a snapshot
	foreignVolume,   // no first member starts on a claim of somebody else
	commitBootstrap, // write down who the first members are before any of them exists
}}

// start brings the first members up from nothing.
var start = group{"start", []rule{
	foreignVolume,    // no first member starts on a claim of somebody else
	recommit,         // another size was asked for, or a name is used up, and nobody could start yet
	latch,            // a quorum answers as the cluster we computed
	restartBootstrap, // so many first members are lost that they can never form a quorum
	clearAttempts,    // nothing is left of attempts at a restore that were called off
	clearOld,         // what an abandoned incarnation has left goes before new pods come
	clearTerminal,    // a pod in a terminal phase never starts again
	refresh,          // a pod that waits was made from an older spec
	createInitial,    // volumes and pods that wait for a permit
	seat,             // write down which pods may start from nothing
	permitInitial,    // let exactly those start
	awaitBootstrap,   // name what is still under way
}}

// restoration brings one first member up from a snapshot; the others join it once it is latched.
var restoration = group{"restoration", []rule{
	foreignVolume,  // the first member does not start on a claim of somebody else
	latch,          // it answers as the cluster we computed: from here on there is no way back
	restoreAgain,   // its data was lost after it was restored: another attempt
	sourceGone,     // nothing says where the snapshot is to start from, so nothing more is taken away for it
	clearAttempts,  // nothing is left of attempts at a restore that were given up
	stopFormer,     // what is replaced stops before new pods come, and its data stays
	clearTerminal,  // a pod in a terminal phase never starts again
	refresh,        // a pod that waits was made from an older spec
	createInitial,  // the volume, and a pod that restores and then waits for a permit
	permitRestored, // let etcd start on what was restored
	awaitRestored,  // name what is still under way
}}

// repair is what needs no quorum. noQuorum is its last: without a quorum no later group is asked.
var repair = group{"repair", []rule{
	clearAttempts, // nothing is left of attempts at a restore that were called off
	clearTerminal, // a pod in a terminal phase never starts again
	restart,       // pod gone, data there: same name, same volume, at once
	unstick,       // a pod that cannot run was made from an older spec: make it from this one
	noQuorum,      // without a quorum nothing about the membership may change
}}

// membership says who votes and whom clients reach, and takes away who is lost, or one too many.
var membership = group{"membership", []rule{
	raiseBudget,   // evictions must leave a quorum of the voters that there are now
	serve,         // let clients reach every voter
	promote,       // a learner in sync becomes a voter
	replaceLost,   // data gone: out of the membership, if the rest has quorum to spare
	refresh,       // a pod that waits was made from an older spec
	removeOrphans, // pods and volumes that the quorum does not list
	shrink,        // more members than asked for
}}

// leadership is about disks that hold clients up. It comes before anybody joins: that takes long.
var leadership = group{"leadership", []rule{
	endHung, // a disk that hangs holds its member's clients: end the member, for them to go elsewhere
	relieve, // a slow disk must not lead
}}

// growth brings new members in.
var growth = group{"growth", []rule{
	stayUp,        // a downgrade that is taken back, or in the way of a newcomer
	join,          // candidates with an address become learners, together where the servers allow it
	permit,        // learners that are listed may start
	grow,          // fewer members than asked for
	surplusVolume, // a volume made for a member that is not wanted any more
}}

// updates bring the members to the spec, one at a time.
var updates = group{"updates", []rule{
	adjust,     // labels, resources and bigger volumes disturb nobody
	pullImages, // fetch a new image before any member is restarted with it
	mend,       // a member that is down anyway gets what the spec asks for now
	steady,     // one at a time: the next member once all are healthy
	snapshot,   // what etcd 3.5 has left in the logs must not meet 3.7
	downgrade,  // etcd itself goes down before its members do
	surge,      // a member that has to be replaced: bring the new one in first
	awaitImage, // no container ends before the image of the next one is on its node
	roll,       // a member that can be restarted: followers first
	endPulls,   // what has fetched an image is not needed any more
}}

// housekeeping is what is left once all is as asked, or says why it is not.
var housekeeping = group{"housekeeping", []rule{
	openBudget,   // no disruption of ours is due: let others evict one pod
	await,        // name what is still under way
	alarmed,      // etcd itself has raised an alarm, and somebody must see to it
	dropReplaced, // what a restore with safetySnapshot Skip has replaced goes now; what another has replaced is never deleted
	refused,      // name what of the spec cannot be carried out
}}

// beforeLatch has no voters to look after: what answers may be an attempt that was given up. During a restore the former members
// are no voters either.
var beforeLatch = []guard{
	kept,   // DeleteVolume: Blocked if a restore has replaced what is on it, is to replace it, or has begun there
	notOwn, // DeleteVolume: Blocked if the claim is not provably the cluster's own
}

// afterLatch is the one chokepoint for what the operator does to voters (S1), and for what cannot be taken back (S2).
var afterLatch = []guard{
	kept,       // DeleteVolume: Blocked if a restore has replaced what is on it
	notOwn,     // DeleteVolume: Blocked if the claim is not provably the cluster's own
	unproven,   // RemoveMember, DeletePod, DeleteVolume: Wait for a majority of the voters to say who the members are
	atRisk,     // RemoveMember, SetImage, Recreate, DeletePod, of a voter: Wait while the others are no healthy quorum without it
	budgetOpen, // the same: SetBudget first, then Wait for that to be in force, lest an eviction takes another one meanwhile
	budgetLow,  // Promote: SetBudget first, so that evictions leave a quorum with the new voter among them
	undeclared, // Promote, RemoveMember, of a voter: CommitVoters first, so that status knows whom to believe afterwards
}
