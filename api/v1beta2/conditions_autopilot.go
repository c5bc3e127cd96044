package v1beta2

// # Auto Pilot
//
// In status.autopilot.held of an EtcdCluster, in its condition Anomaly, and in events.
const (
	// ReasonAutopilotAdvises means that the message says what the operator would do, and that it does not because a mode is Advise: that of the
	// feature in spec.autopilot, spec.autopilot.mode, or that of the operator.
	//
	// Do it by hand, or set that mode to On: kubectl etcd autopilot NAME says which it is.
	ReasonAutopilotAdvises = "AutopilotAdvises"
	// ReasonWaitingForWindow means that something is due that can wait for the maintenance window, and that this is not open, or that there is
	// none.
	//
	// Nothing, or set spec.maintenanceWindow if there is none: it is done once that opens. Do it by hand if it cannot wait.
	ReasonWaitingForWindow = "WaitingForWindow"
	// ReasonWaitingForBrake means that something is due that would disturb clients, and that as many clusters are being disturbed as the
	// operator allows at a time: five, and three of one namespace. That limit is the brake.
	//
	// Nothing: its turn comes, and namespaces take turns. If it takes hours, look for clusters in which something of Auto Pilot does not end.
	ReasonWaitingForBrake = "WaitingForBrake"
	// ReasonNoLongerHeld means that what was held back is no longer: it is being done, or not due any more.
	//
	// Nothing.
	ReasonNoLongerHeld = "NoLongerHeld"
	// ReasonMakingRoom means that a member's database has reached its quota, and that the operator makes room: it defragments, gives up
	// history older than five minutes if it may, and disarms the alarm once every member has room.
	//
	// Nothing. Held, it waits until there is history that is old enough to be given up.
	ReasonMakingRoom = "MakingRoom"
	// ReasonSpaceExhausted means that a member's database has reached its quota, and that nothing the operator may give up makes room; or that it
	// has made room six times within an hour, and that this is used up again.
	//
	// Delete keys, or raise spec.etcd.quotaBackendBytes. The operator compacts and defragments by itself, and disarms the alarm once there
	// is room. With spec.autopilot.noSpace.compaction: Forbidden it does not compact, so deleting keys makes no room: raise the quota, compact
	// by hand, or set Allowed.
	ReasonSpaceExhausted = "SpaceExhausted"
	// ReasonDefragmenting means that a member's database is written anew, without its free pages. The member serves nobody meanwhile; the
	// others do. An event with this reason says afterwards how long that took, and what it has freed.
	//
	// Nothing.
	ReasonDefragmenting = "Defragmenting"
	// ReasonDefragmentationHeld means that a member's database is to be defragmented, and that this is not safe now: the message says why.
	//
	// See to what the message names. The operator goes on by itself.
	ReasonDefragmentationHeld = "DefragmentationHeld"
	// ReasonRaisingQuota means that what is in use of a database has come close to etcd's quota, and that etcd is given a higher one: members
	// are updated one after the other.
	//
	// Nothing. status.autopilot.tuned has the quota; to have another one, set spec.etcd.quotaBackendBytes.
	ReasonRaisingQuota = "RaisingQuota"
	// ReasonQuotaRaised means that all members run with the quota that etcd was given because what is in use had come close to the former one.
	//
	// Nothing.
	ReasonQuotaRaised = "QuotaRaised"
	// ReasonGrowingVolumes means that etcd's quota is to be raised, and that the members are given larger volumes first, up to
	// spec.autopilot.volume.max.
	//
	// Nothing. status.autopilot.volume has the size.
	ReasonGrowingVolumes = "GrowingVolumes"
	// ReasonVolumesGrown means that all members have the larger volumes that a higher quota of etcd needs.
	//
	// Nothing: the quota is raised next.
	ReasonVolumesGrown = "VolumesGrown"
	// ReasonQuotaHeld means that what is in use of a database has come close to etcd's quota, and that the quota is not raised: the message
	// says why.
	//
	// Do what the message says, or delete keys. Once the quota is reached, etcd takes no writes but deletions.
	ReasonQuotaHeld = "QuotaHeld"
	// ReasonResizingMembers means that the members use most of the CPU or memory that they request, or little of it for a week, and that they are
	// given more, or less: their pods are resized in place, and nobody restarts. Or that this is rolled back, because not all of them could be.
	//
	// Nothing. status.autopilot.resources has what they request; to have anything else, set spec.pod.resources.
	ReasonResizingMembers = "ResizingMembers"
	// ReasonMembersResized means that all members request what the operator has chosen, and have it.
	//
	// Nothing.
	ReasonMembersResized = "MembersResized"
	// ReasonResourcesHeld means that the members use most of the CPU or memory that they request, or little of it for a week, and that this is not
	// changed: the message says why.
	//
	// Do what the message says: raise or set spec.autopilot.resources.max, free room on the nodes, or set spec.pod.resources.
	ReasonResourcesHeld = "ResourcesHeld"
	// ReasonFollowingPatch means that spec.version is a minor release, and that etcd is updated to a newer patch release of it that the operator
	// is tested with: one member after the other.
	//
	// Nothing. status.autopilot.version has the release; to have another one, set spec.version to it.
	ReasonFollowingPatch = "FollowingPatch"
	// ReasonPatchFollowed means that all members run the patch release that the operator has chosen of the minor release in spec.version.
	//
	// Nothing.
	ReasonPatchFollowed = "PatchFollowed"
	// ReasonPatchHeld means that there is a newer patch release of the minor release in spec.version, and that etcd is not updated to it: the
	// message says why.
	//
	// See to what the message names, such as a verified backup. The operator goes on by itself. If a member has the release for more than an hour, and
	// was never healthy and in sync for ten minutes, look at its log and its disk.
	ReasonPatchHeld = "PatchHeld"
	// ReasonPatchOnTrial means that one member runs a newer patch release, and that the others do not get it before that member was healthy for ten
	// minutes.
	//
	// Nothing. To have the others follow at once, set spec.version to the full version.
	ReasonPatchOnTrial = "PatchOnTrial"
	// ReasonPatchRefused means that the first member with a newer patch release failed its trial: it did not become healthy, its etcd ended, it was
	// lost, or etcd raised its alarm CORRUPT. The release was rolled back: the members run the former one. It is not tried again in this cluster, and
	// no other one of the operator that would run the same image begins to try it for a day.
	//
	// Find out why: the event says which member it was, and its log may say more. A newer patch release is followed by itself. To use
	// this one all the same, set spec.version to its full version: all members get it at once, without a trial, and it is not rolled back. To be told
	// no more, set it to the full version that runs.
	ReasonPatchRefused = "PatchRefused"
	// ReasonRelocating means that the disk of a member was slow for an hour while that of another member was four times as fast, and that it is
	// moved to another node: a new member joins there, and then it is removed.
	//
	// Nothing. status.autopilot.relocation says which node that was: see to its disk.
	ReasonRelocating = "Relocating"
	// ReasonRelocated means that a member whose disk was slow is removed, and that another one has taken its place.
	//
	// Nothing. status.autopilot.relocation says which node that was: see to its disk.
	ReasonRelocated = "Relocated"
	// ReasonRelocationHeld means that the disk of a member was slow for an hour, and that it is not moved to another node: the message says why.
	//
	// See to that disk, or to what the message names. The operator goes on by itself.
	ReasonRelocationHeld = "RelocationHeld"
	// ReasonRelocationGivenUp means that a member on a slow disk stays where it is, because no new member could take its place in time, or the new one
	// is needed in another place: the message says why. It is tried again 24 hours after that.
	//
	// Add a node that the members' pods fit on, with storage for them, or see to the disk.
	ReasonRelocationGivenUp = "RelocationGivenUp"
	// ReasonDivergedMember means that a member's data differs from what a majority of the voters agrees on, at two compactions, or at one
	// if etcd has raised its alarm about that very member. It is taken out of the client Service and replaced, and its volume is kept.
	//
	// Nothing. Once nobody wants to examine the volume, delete it: kubectl delete pvc NAME (docs/autopilot.md).
	ReasonDivergedMember = "DivergedMember"
	// ReasonDivergedMemberReplaced means that a member whose data differed is removed, and that another one has taken its place.
	//
	// Once nobody wants to examine its volume, if it had one, delete it: kubectl delete pvc NAME (docs/autopilot.md).
	ReasonDivergedMemberReplaced = "DivergedMemberReplaced"
	// ReasonDivergedMemberHeld means that a member's data differs from what a majority of the voters agrees on, and that it is not replaced
	// now, or that members which are too many, to be updated or to be stopped stay until it is known whose data is right: the message says
	// until when.
	//
	// Bring back what the message names, and the operator goes on by itself. If it says that the mode has to be On, set that.
	ReasonDivergedMemberHeld = "DivergedMemberHeld"
	// ReasonDivergedMemberUnclear means that the members' data differs, or that etcd says so, and that there is no majority which agrees and
	// from which exactly one voter differs. Nothing is replaced, and nobody joins.
	//
	// Compare the members, or restore a backup (docs/autopilot.md).
	ReasonDivergedMemberUnclear = "DivergedMemberUnclear"
	// ReasonLearning means that too little is known of the last day of every member, as after a start of the operator or the cluster: what is
	// unusual of them cannot be told.
	//
	// Nothing.
	ReasonLearning = "Learning"
	// ReasonNotSampled means that for an hour no member could be compared with what it was like in the day before: without a quorum, while
	// something is done to the members all the time or one of them is not healthy, or where their metrics cannot be read.
	//
	// Look at the other conditions. If they are as they should be, find out why the operator cannot read the members' metrics.
	ReasonNotSampled = "NotSampled"
	// ReasonDeviatedBefore means that a member deviated when it was compared last, and that nobody knows whether it still does: the operator has
	// started anew and learns for a day, or no member could be compared for an hour. The message says since when, and in what respect.
	//
	// Find out what has changed: see the runbook EtcdAnomaly. After a new start of the operator, what is so by then counts as usual.
	ReasonDeviatedBefore = "DeviatedBefore"
	// ReasonAsUsual means that no member of whose last day enough is known deviates from what it was like then. The message names what is not
	// known, or happens too seldom to be compared.
	//
	// Nothing.
	ReasonAsUsual = "AsUsual"
	// ReasonDeviating means that a member has not been what it was like in the day before, for a quarter of an hour: the message says in what
	// respect. Nothing is done about it.
	//
	// Find out what has changed: see the runbook EtcdAnomaly. What stays that way counts as usual after half a day.
	ReasonDeviating = "Deviating"
	// ReasonTimersTooShort means that in each hour of the last day round trips between two members have taken longer than etcd's heartbeat interval,
	// or than a tenth of its election timeout: it may change its leader without need. The message says what to set.
	//
	// Set spec.etcd.heartbeatInterval and spec.etcd.electionTimeout to what the message says (a rolling update), or move the members closer
	// together. The operator never does this by itself: see docs/autopilot.md.
	ReasonTimersTooShort = "TimersTooShort"
)
