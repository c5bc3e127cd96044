package plan

import "github.com/etcdpilot/etcd-operator/internal/failure"

// Assessment is what a pass makes of what it has observed. It is worked out once, before any rule is asked: rules decide by it,
// and status tells it. Who the members are nobody knows without a quorum: what is about members is empty then.
type Assessment struct {
	// NameTaken is what to do first about an object of somebody else whose name this cluster cannot do without, nil if there is none.
	NameTaken Action
	// Healthy are the names of the pods whose servers can be counted on: they answer, as whom the quorum lists under that name if
	// it lists anybody, they follow a leader, and their pods are not on their way out.
	Healthy []string
	// Leader is the ID of the leader that most of the members name, 0 if none is named.
	Leader uint64
	// Versions are etcd's own.
	Versions Versions
	// TargetSize is how many voters there are to be, and Room how many members there may be meanwhile.
	TargetSize, MaxMembers int
	// Candidates are the pods that wait for a membership.
	Candidates []Pod
	// Changes are what has to be done to the members to bring them to the spec, by name.
	Changes map[string]Change
	// Updated are the names of the members whose pods are as the spec asks.
	Updated []string
	// Restarting are the names of the pods that were disturbed by the operator and have time yet to come back, as far as they are
	// down.
	Restarting []string
	// RemovalCandidate is the member to take out next, the zero Member unless there is one too many.
	RemovalCandidate Member
	// InProgress is what has to be waited for before all is done that was begun, nil if nothing is.
	InProgress Action
	// Update says how far the update is.
	Update Update
	// Alarm is the gravest alarm that etcd has raised, SlowLeader is there if the leader's disk is too slow to lead, Refusal is
	// what of the spec is not carried out, and Stranger is something with the cluster's labels that is not the cluster's and in
	// nobody's way. Each is nil if there is none.
	Alarm, SlowLeader, Refusal, Unrelated *failure.Problem
}

// Versions are those of etcd that the members run and are to run.
type Versions struct {
	// Target is the version to bring the members to, empty while each keeps the one that it has: Refused says why.
	Target  string
	Refused *failure.Problem
	// Lowest is the version that a new member can run whatever becomes of an update: the lowest of those that run. Before anything
	// runs it is the spec's.
	Lowest string
	// DowngradeFirst is true while etcd's own downgrade has to come before any member runs the target.
	DowngradeFirst bool
	// SnapshotsFirst is true while every member has to write a snapshot before any runs the target.
	SnapshotsFirst bool
}

// Update is how far an update is.
type Update struct {
	// Blocker is why no member may be disturbed for it now, nil if one may be, or if there is nothing to update.
	Blocker Action
	// MissingImage is what to wait for before a member is restarted with another image, nil if all are there.
	MissingImage Action
	// Next is the member to restart or to recreate next, the zero Member if there is none, or if something comes before that.
	Next Member
}

// Assess is what a pass makes of that.
func Assess(o Observed) Assessment { return newView(o).Assessment }

// assess works it out, each part from those before it.
func (v *view) assess() {
	v.NameTaken = v.nameConflict()
	v.Healthy = v.healthyPods()
	v.Leader = v.currentLeader()
	v.Versions = v.versions()
	v.TargetSize = v.targetSize()
	v.Candidates = v.candidates()
	v.Changes = v.changes()
	v.MaxMembers = v.maxMembers()
	v.Updated, v.Restarting = v.updated(), v.restarting()
	v.Alarm, v.SlowLeader, v.Refusal, v.Unrelated = v.alarm(), v.slowLeader(), v.refusal(), v.unrelated()
	if v.Etcd.Contact != ContactQuorum {
		return
	}
	v.RemovalCandidate = v.removalCandidate()
	v.InProgress = v.inProgress()
	v.Update.Blocker = v.updateBlocker()
	v.Update.MissingImage = v.missingImage()
	v.Update.Next = v.nextToUpdate()
}
