package v1beta2

// # Members that fail
//
// In Degraded, Progressing and Ready of an EtcdCluster, and in the events of the repair.
const (
	// ReasonMemberDown means that a voter is not healthy. The others serve.
	//
	// Nothing, if its pod is coming back. Otherwise check the pod's events, kubectl logs POD -c etcd, and its node.
	ReasonMemberDown = "MemberDown"
	// ReasonUpdateStopped means that an update is stuck because a member does not become healthy.
	//
	// Fix what the message names, or revert the spec change: the members that were already updated are reverted first.
	ReasonUpdateStopped = "UpdateStopped"
	// ReasonDiskHangs means that a member's disk hangs: its writes do not complete. Its pod is deleted and recreated on its
	// volume.
	//
	// Check the storage of the node that the member is on.
	ReasonDiskHangs = "DiskHangs"
	// ReasonDiskSlow means that the disk of the leader is slow. Leadership is moved if another member's disk is faster.
	//
	// Give etcd a faster disk, or a dedicated one.
	ReasonDiskSlow = "DiskSlow"
	// ReasonMemberBehind means that a voter has applied far fewer entries of the log than the others have agreed on, for half a minute and
	// longer. It serves, but old data to whoever does not ask for linearizable reads, and it counts for little should another one fail.
	//
	// If it does not catch up within minutes, look at its disk, its processor time and its network: docs/runbooks/EtcdDiskSlow.md and
	// docs/runbooks/EtcdPeerSlow.md.
	ReasonMemberBehind = "MemberBehind"
	// ReasonPodEnded means that a pod reached a terminal phase (Failed or Succeeded): it was evicted, or its node shut down. It is
	// recreated.
	//
	// Nothing.
	ReasonPodEnded = "PodEnded"
	// ReasonPodLost means that a pod is gone, and with it the data in its emptyDir volume. The member is replaced.
	//
	// Nothing. With spec.pod.persistentVolumeClaimSpec members keep their data when a pod is deleted.
	ReasonPodLost = "PodLost"
	// ReasonVolumeLost means that a member's data is gone. The member is replaced.
	//
	// Nothing. See who deleted the volume.
	ReasonVolumeLost = "VolumeLost"
	// ReasonDataDamaged means that a member cannot start because its data is damaged. It is replaced.
	//
	// Check the disk that it was on.
	ReasonDataDamaged = "DataDamaged"
	// ReasonNodeLost means that a pod stays in Terminating for 10 s after its grace period: its node is NotReady, or the pod has a
	// finalizer. The member is replaced.
	//
	// Bring the node back, or delete it.
	ReasonNodeLost = "NodeLost"
	// ReasonForeignData means that a volume holds the data of another member or cluster. The member is replaced.
	//
	// Find out how it got there. Restore data with an EtcdRestore, never by hand: the volume is deleted, with its data.
	ReasonForeignData = "ForeignData"
	// ReasonNeverStarted means that a listed member did not start in time. It is replaced.
	//
	// If it happens again, check the new member's log: kubectl logs POD -c etcd.
	ReasonNeverStarted = "NeverStarted"
	// ReasonNotAMember means that a pod or volume of the cluster belongs to none of etcd's members. It is deleted.
	//
	// Nothing.
	ReasonNotAMember = "NotAMember"
)

// # Clusters whose quorum or data is in danger
//
// In Degraded, Available, Progressing and Ready of an EtcdCluster.
const (
	// ReasonQuorumAtRisk means that the next step would lose quorum, so the operator waits.
	//
	// Bring back the members that are down.
	ReasonQuorumAtRisk = "QuorumAtRisk"
	// ReasonQuorumLost means that no majority of the voters answers. The membership is not changed, and no volume with a member's data is deleted.
	// Pods are recreated.
	//
	// Bring back the pods and nodes that the message names. If they never come back, see status.recovery.plan: docs/operations.md says what to do
	// with it.
	ReasonQuorumLost = "QuorumLost"
	// ReasonDataLost means that the data of so many members is lost that a quorum can never form again.
	//
	// If status.recovery.plan is there, recover from the survivor: docs/operations.md says how. Otherwise, if the cluster has been up, create an
	// EtcdRestore: it saves what is left first, and a new EtcdCluster in its place would be empty. If it has never been up, save by hand what you
	// need of what the message names; then delete the EtcdCluster and create it again.
	ReasonDataLost = "DataLost"
	// ReasonRecoveringQuorum means that a recovery from a lost quorum was confirmed: an EtcdRestore saves and verifies what the survivor
	// holds, and then replaces the data by that. Nothing is stopped before.
	//
	// Nothing. To call it off, remove the annotation etcd.database.coreos.com/recover, and then delete the EtcdRestore that the message names.
	ReasonRecoveringQuorum = "RecoveringQuorum"
	// ReasonRecoveryFailed means that the EtcdRestore of a recovery from a lost quorum has failed. Nothing was replaced.
	//
	// Fix what the message names, then delete that EtcdRestore: while the plan is confirmed it is created again.
	ReasonRecoveryFailed = "RecoveryFailed"
	// ReasonClusterIDMismatch means that a pod answers with the ID of another etcd cluster. Nothing is changed until it is gone.
	//
	// Find out where its data comes from. If a snapshot was put onto its volume by hand, or its data may be needed, save that
	// first, and restore it with an EtcdRestore. Then delete the pod and its volume.
	ReasonClusterIDMismatch = "ClusterIDMismatch"
	// ReasonStatusOutdated means that status was put back to before the cluster had started, for example by a restored backup of the
	// EtcdCluster, while its members are there. Nothing is changed by it.
	//
	// Remove status, as the message says: the operator takes over the members that are there.
	ReasonStatusOutdated = "StatusOutdated"
	// ReasonRevisionRegressed means that etcd's revision went back, so data was lost or rolled back outside the operator, which
	// neither repairs nor updates the cluster.
	//
	// Stop clients from writing, and find out what was rolled back. Then create an EtcdRestore of a backup at the revision that
	// the message names, or a higher one.
	ReasonRevisionRegressed = "RevisionRegressed"
	// ReasonCorrupt means that etcd reports that its members' data differs (alarm CORRUPT). It takes no writes, and what
	// it reads may be wrong, so the cluster is not Available, and nothing is updated. The message names the member that etcd accuses, which
	// may be the wrong one.
	//
	// If a majority proves one member wrong, Auto Pilot replaces it and disarms the alarm. Otherwise status.autopilot.held says why not: then
	// compare the members, as the message says, and disarm the alarm last.
	ReasonCorrupt = "Corrupt"
	// ReasonNoSpace means that a member's database has reached its quota (alarm NOSPACE). No member takes any write but deletions, so the
	// cluster is not Available; reads work. The message names the members, with the size of their databases and their quotas.
	//
	// Auto Pilot makes room, unless its mode forbids that or the message says what keeps it from it. By hand: raise
	// spec.etcd.quotaBackendBytes, or delete keys, compact and defragment; then disarm the alarm: docs/runbooks/EtcdWritesRefused.md has the
	// commands.
	ReasonNoSpace = "NoSpace"
	// ReasonAlarmDisarmed means that etcd's alarms are gone, and it takes writes again. Only an event has it.
	//
	// Nothing.
	ReasonAlarmDisarmed = "AlarmDisarmed"
)
