package plan

import v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"

// rule looks at the view and answers with an action, or with nil when it has nothing to say.
type rule func(*view) Action

// always are asked first, whatever state the cluster is in.
var always = []rule{
	deleting,      // the garbage collector does the rest
	paused,        // hands off
	legacyMembers, // members of coreos/etcd-operator: nothing is done beside them, whatever else there is to say
	nameTaken,     // an object of somebody else is in the way
	// A later restore takes the place of one that is to be called off: nobody goes back only to be replaced. All three come before
	// the next two, for a restore is the way out of what those find, and so is the way back from one.
	latchFirst,        // what is up is latched before one of the next two takes it away
	restore,           // a verified snapshot is to take the place of whatever data there is
	callOff,           // the cluster goes back to what it held, if it can, while nobody could use the new one yet
	foreignCluster,    // a server answers for another cluster: never act on it
	revisionRegressed, // the data went back in time: never act on it
}

// beginning are asked until it is written down how the cluster starts.
var beginning = []rule{
	copied,          // perhaps data of the cluster, and somebody must say so: nothing is started beside it
	adoptVolumes,    // data of an earlier cluster of this name: take it up, never start empty beside it
	ranBefore,       // nothing is started from nothing where clients had their data
	invalidSpec,     // nothing is started from a spec that cannot work
	awaitRestore,    // nothing is started from nothing that is to start from a snapshot
	foreignVolume,   // no first member starts on a claim of somebody else
	commitBootstrap, // write down who the first members are before any of them exists
}

// starting are asked from then on until the cluster ID is latched, where the cluster starts from nothing.
var starting = []rule{
	foreignVolume,    // no first member starts on a claim of somebody else
	commitSize,       // another size was asked for, and nobody could start yet
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
}

// restoring are asked instead where its one first member starts from a snapshot.
var restoring = []rule{
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
}

// running are asked once the cluster ID is latched.
var running = []rule{
	clearAttempts, // nothing is left of attempts at a restore that were called off
	clearTerminal, // a pod in a terminal phase never starts again
	restart,       // pod gone, data there: same name, same volume, at once
	unstick,       // a pod that cannot run was made from an older spec: make it from this one
	noQuorum,      // without a quorum nothing about the membership may change
	raiseBudget,   // evictions must leave a quorum of the voters that there are now
	serve,         // let clients reach every voter
	promote,       // a learner in sync becomes a voter
	replaceLost,   // data gone: out of the membership, if the rest has quorum to spare
	refresh,       // a pod that waits was made from an older spec
	removeOrphans, // pods and volumes that the quorum does not list
	shrink,        // more members than asked for
	endHung,       // a disk that hangs holds its member's clients: end the member, for them to go elsewhere
	relieve,       // a slow disk must not lead
	stayUp,        // a downgrade that is taken back, or in the way of a newcomer
	join,          // candidates with an address become learners, together where the servers allow it
	permit,        // learners that are listed may start
	grow,          // fewer members than asked for
	surplusVolume, // a volume made for a member that is not wanted any more
	adjust,        // labels, resources and bigger volumes disturb nobody
	pullImages,    // fetch a new image before any member is restarted with it
	mend,          // a member that is down anyway gets what the spec asks for now
	steady,        // one at a time: the next member once all are healthy
	snapshot,      // what etcd 3.5 has left in the logs must not meet 3.7
	downgrade,     // etcd itself goes down before its members do
	surge,         // a member that has to be replaced: bring the new one in first
	awaitImage,    // no container ends before the image of the next one is on its node
	roll,          // a member that can be restarted: followers first
	endPulls,      // what has fetched an image is not needed any more
	openBudget,    // no disruption of ours is due: let others evict one pod
	await,         // name what is still under way
	alarmed,       // etcd itself has raised an alarm, and somebody must see to it
	dropReplaced,  // the data that a restore has replaced is kept until here
	refused,       // name what of the spec cannot be carried out
}

// situation is the list for the state that the cluster is in.
func (v *view) situation() []rule {
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

// Next decides what to do now.
func Next(o Observed) Action {
	a, _ := Decide(o)
	return a
}

// Decide is Next, and says what the answer follows from.
func Decide(o Observed) (Action, Assessment) {
	v := newView(o)
	a, _ := v.decide()
	return a, v.Assessment
}

// decide tells also which rule has answered first, by its place in the lists; nil if none has.
func (v *view) decide() (Action, *rule) {
	for _, list := range [][]rule{always, v.situation()} {
		for i, r := range list {
			if a := r(v); a != nil {
				return guard(v, a), &list[i]
			}
		}
	}
	return Idle{Reason: v1beta2.ReasonSpecReached, Message: v.summary()}, nil
}
