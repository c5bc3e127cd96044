package plan

import "github.com/etcdpilot/etcd-operator/internal/failure"

// Assessment is what a pass concludes from its observation. It is computed once, before any rule is evaluated: rules decide by
// it, and status reports it. Without a quorum the member list is unknown, and what follows from it is empty; Healthy and
// Candidates are known all the same.
type Assessment struct {
	// NameTaken is what to do first about an object of another owner whose name this cluster requires, nil if there is none.
	NameTaken Action
	// Healthy are the names of the pods whose servers are healthy: they answer, as the member listed under that name if any is,
	// they follow a leader, and their pods are not terminating.
	Healthy []string
	// Leader is the ID of the leader that most of the members report, 0 if none.
	Leader uint64
	// Versions are those of etcd.
	Versions Versions
	// TargetSize is the number of voters to have, and MaxMembers how many members there may be in the meantime.
	TargetSize, MaxMembers int
	// Candidates are the pods that wait to become members.
	Candidates []Pod
	// Changes are what it takes to bring each member to the spec, by name.
	Changes map[string]Change
	// Updated are the names of the members whose pods match the spec.
	Updated []string
	// DownForUpdate are the names of the pods that may be down because the operator is updating them.
	DownForUpdate []string
	// NextToRemove is the surplus member to remove next, the zero Member if there is none.
	NextToRemove Member
	// InProgress is the first thing to wait for before the next member is updated, nil if there is none.
	InProgress Action
	// Update is the state of an update.
	Update Update
	// Recovery is what can be done about a lost quorum, nil if there is one, or if nothing can be known to be lost.
	Recovery *Recovery
	// Alarms are etcd's alarms that most of those who answer know of, CORRUPT first.
	Alarms []Alarm
	// Alarm says what the most severe of them means and what to do, nil if there is none.
	Alarm *failure.Problem
	// SlowLeader says that the leader's disk is too slow, nil if it is not.
	SlowLeader *failure.Problem
	// Laggards says which voters have been far behind for a while, nil if none has.
	Laggards *failure.Problem
	// RejectedSpec says which part of the spec is not carried out, nil if all is.
	RejectedSpec *failure.Problem
	// Unrelated is about an object with the cluster's labels that does not belong to it and does no harm, nil if there is none.
	Unrelated *failure.Problem
	// Defragmented is the member that is being defragmented, the zero Member if none is.
	Defragmented Member
	// Room is what makes room where a database has reached its quota, and Tidying what gives free pages back to the disk.
	Room, Tidying Upkeep
	// OnTrial is the patch release that one member is to run for a while before the others get it, the zero Patch if there is none.
	OnTrial Patch
	// Tuning is what Auto Pilot changes of the options for etcd next, and Resizing of what members request, nil if nothing. Following is the next
	// patch release of etcd, and Retreat the way back from the last one, each nil if it is not due or held.
	Tuning, Resizing, Following, Retreat Action
	// Relocation moves a member off a node whose disk is slow, nil if none is due or it is held. Relocated is the listed member that is being
	// moved, the zero Member if none is.
	Relocation Action
	Relocated  Member
	// Doubt is what is not known of whose data is right, as far as anything is held up for that; the zero value if nothing is.
	Doubt Doubt
	// Quarantined is the listed member that is being replaced because its data differs, the zero Member if none is. Diverged is the one to
	// begin that with now.
	Quarantined, Diverged Member
	// Held are the acts of Auto Pilot that are due and not done, by feature.
	Held []HeldAct
	// Feature is the feature of Auto Pilot whose rule has decided, empty if none has. It is known once the rules were asked.
	Feature string
}

// Versions are the etcd versions in use and to be used.
type Versions struct {
	// Target is the version to bring the members to, empty while each keeps its own: Refused says why.
	Target  string
	Refused *failure.Problem
	// Lowest is the version for new members, whether or not an update is completed: the lowest in use. Before any member runs it
	// is the spec's.
	Lowest string
	// DowngradeFirst is true while etcd's downgrade has to be enabled before any member runs the target.
	DowngradeFirst bool
	// SnapshotsFirst is true while every member has to write a snapshot before any member runs the target.
	SnapshotsFirst bool
}

// Update is the state of an update.
type Update struct {
	// Blocker is why no member may be disrupted now, nil if one may be, or if there is nothing to update.
	Blocker Action
	// MissingImage is what to wait for before a member is restarted with a new image, nil if all images are present.
	MissingImage Action
	// Next is the member to restart or recreate next, the zero Member if there is none, or if something else comes first.
	Next Member
	// Step updates Next: SetImage or Recreate, nil if there is no next member.
	Step Action
}

// Assess returns the conclusions from an observation.
func Assess(o Observed) Assessment { return newView(o).Assessment }

// assess computes them, each from the preceding ones.
func (v *view) assess() {
	v.NameTaken = v.nameConflict()
	v.Healthy = v.healthyPods()
	v.Leader = v.currentLeader()
	v.Versions = v.versions()
	v.TargetSize = v.targetSize()
	v.Candidates = v.candidates()
	v.Quarantined, v.Relocated = v.quarantined(), v.relocated()
	v.Alarms, v.Doubt = v.alarms(), v.heeded()
	v.OnTrial = v.onTrial()
	v.untried = v.whyUntried()
	v.Changes = v.changes()
	v.MaxMembers = v.maxMembers()
	v.Updated, v.DownForUpdate = v.updated(), v.downForUpdate()
	v.Alarm, v.SlowLeader, v.Laggards = v.alarm(), v.slowLeader(), v.laggards()
	v.RejectedSpec, v.Unrelated = v.rejectedSpec(), v.unrelated()
	active := !v.Cluster.Paused && !v.Cluster.Deleting
	if active {
		v.Retreat = v.retreating()
	}
	if v.Etcd.Contact != ContactQuorum {
		v.Recovery = v.recovery()
		return
	}
	if active {
		v.judgeData()
	}
	v.Defragmented = v.defragmented()
	v.NextToRemove = v.nextToRemove()
	v.InProgress = v.inProgress(0)
	v.Update.Blocker = v.updateBlocker(0)
	v.Update.MissingImage = v.missingImage()
	v.Update.Next, v.Update.Step = v.nextToUpdate()
	if active {
		if v.Room = v.room(); !v.Cluster.Hibernate { // nothing that can wait is begun in a cluster that is about to stop
			v.Tidying, v.Tuning, v.Following = v.tidying(), v.tuning(), v.following()
			v.Resizing = v.resizing()
			v.Relocation = v.relocation()
		}
		v.Alarm = v.alarm() // which says what is done about it
	}
}
