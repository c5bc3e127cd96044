package v1beta2

// Condition types of an EtcdCluster.
const (
	// ConditionAvailable is true while a quorum of the voters answers.
	ConditionAvailable = "Available"
	// ConditionProgressing is true while the operator is doing, or waiting for, something.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is true while a member cannot be counted on, or while the operator cannot carry the spec out.
	ConditionDegraded = "Degraded"
	// ConditionAccepted is false of an EtcdBackup or EtcdRestore that cannot be carried out as it is.
	ConditionAccepted = "Accepted"
	// ConditionRestored is true of an EtcdRestore once its cluster runs on the restored data.
	ConditionRestored = "Restored"
)

// Reasons of conditions, events and metrics. Each says what is going on and, where somebody must act, what to do.
const (
	// ReasonSpecReached means that everything is as the spec asks.
	ReasonSpecReached = "SpecReached"
	// ReasonAsExpected means that nothing is degraded.
	ReasonAsExpected = "AsExpected"
	// ReasonRunning means that a quorum of the voters answers.
	ReasonRunning = "Running"
	// ReasonPaused means that spec.paused keeps the operator's hands off.
	ReasonPaused = "Paused"
	// ReasonTerminating means that the object is being deleted.
	ReasonTerminating = "Terminating"

	// ReasonCreating means that volumes or pods are being created.
	ReasonCreating = "Creating"
	// ReasonBootstrapping means that the first members are being prepared.
	ReasonBootstrapping = "Bootstrapping"
	// ReasonStarting means that a member was given leave to start etcd.
	ReasonStarting = "Starting"
	// ReasonAdopting means that the volumes of an earlier cluster of the same name are taken up.
	ReasonAdopting = "Adopting"
	// ReasonScaling means that members are added or removed to reach spec.size.
	ReasonScaling = "Scaling"
	// ReasonRepairing means that a member's pod is made again on its volume.
	ReasonRepairing = "Repairing"
	// ReasonSpecChanged means that a pod that held nothing was made from an older spec and is made again.
	ReasonSpecChanged = "SpecChanged"

	// ReasonUpdating means that members are brought to the spec, one after the other.
	ReasonUpdating = "Updating"
	// ReasonPullingImage means that an image is fetched to the nodes before any member is restarted with it.
	ReasonPullingImage = "PullingImage"
	// ReasonWaitingForMember means that an update goes on once the member is healthy that was updated last.
	ReasonWaitingForMember = "WaitingForMember"
	// ReasonUpdateStopped means that an update does not go on because a member does not get healthy: mend what the
	// message names, or go back to the old spec.
	ReasonUpdateStopped = "UpdateStopped"
	// ReasonWaitingForClients means that a member is about to stop and clients are led to others first.
	ReasonWaitingForClients = "WaitingForClients"
	// ReasonWaitingForVersion means that all members run the new version, and etcd has yet to raise or lower the
	// cluster's own.
	ReasonWaitingForVersion = "WaitingForVersion"
	// ReasonWaitingForVolume means that a volume is growing.
	ReasonWaitingForVolume = "WaitingForVolume"
	// ReasonWaitingForResize means that a node has not resized a pod yet; the message has its reason.
	ReasonWaitingForResize = "WaitingForResize"

	// ReasonWaitingForPods means that pods have no address yet, or are on their way out.
	ReasonWaitingForPods = "WaitingForPods"
	// ReasonWaitingForEtcd means that etcd does not answer yet, or asks to try again later.
	ReasonWaitingForEtcd = "WaitingForEtcd"
	// ReasonWaitingForLearner means that a new member is copying the data.
	ReasonWaitingForLearner = "WaitingForLearner"
	// ReasonWaitingForBudget means that the PodDisruptionBudget is being changed so that nobody else takes a member
	// away at the same time.
	ReasonWaitingForBudget = "WaitingForBudget"
	// ReasonWaitingForPrevious means that objects of a deleted cluster of the same name are still going away.
	ReasonWaitingForPrevious = "WaitingForPrevious"
	// ReasonPodCannotStart means that Kubernetes cannot run a pod; the message has its reason: mend that.
	ReasonPodCannotStart = "PodCannotStart"
	// ReasonActionFailed means that a step failed and is tried again.
	ReasonActionFailed = "ActionFailed"

	// ReasonMemberDown means that a voter does not answer.
	ReasonMemberDown = "MemberDown"
	// ReasonDiskHangs means that a member's disk does not answer: its pod is ended, and comes back on its volume.
	ReasonDiskHangs = "DiskHangs"
	// ReasonDiskSlow means that the disk of the member that leads is slow: leadership is moved if another one is quicker.
	ReasonDiskSlow = "DiskSlow"
	// ReasonPodEnded means that a pod ended for good: an eviction, or a node that was shut down.
	ReasonPodEnded = "PodEnded"
	// ReasonPodLost means that a pod is gone, and with it the data in its emptyDir volume.
	ReasonPodLost = "PodLost"
	// ReasonVolumeLost means that a member's data is gone.
	ReasonVolumeLost = "VolumeLost"
	// ReasonDataDamaged means that a member cannot start because its data is damaged: it is replaced.
	ReasonDataDamaged = "DataDamaged"
	// ReasonNodeLost means that a pod does not go away because its node does not report.
	ReasonNodeLost = "NodeLost"
	// ReasonForeignData means that a volume holds the data of another member or cluster.
	ReasonForeignData = "ForeignData"
	// ReasonNeverStarted means that a listed member did not start in time.
	ReasonNeverStarted = "NeverStarted"
	// ReasonNotAMember means that a pod or volume belongs to no member that the quorum lists.
	ReasonNotAMember = "NotAMember"
	// ReasonQuorumAtRisk means that the next step would cost the quorum: bring back the members that are down.
	ReasonQuorumAtRisk = "QuorumAtRisk"
	// ReasonQuorumLost means that no quorum of the voters answers: bring their pods and nodes back.
	ReasonQuorumLost = "QuorumLost"
	// ReasonDataLost means that so much data is gone that a quorum can never form again: create an EtcdRestore,
	// which saves first what is left. Another EtcdCluster in its place would be empty.
	ReasonDataLost = "DataLost"
	// ReasonClusterIDMismatch means that a pod answers for another cluster: nothing is changed until it is gone.
	ReasonClusterIDMismatch = "ClusterIDMismatch"
	// ReasonRevisionRegressed means that the data went back in time: nothing is changed; create an
	// EtcdRestore.
	ReasonRevisionRegressed = "RevisionRegressed"

	// ReasonNameTaken means that an object of somebody else has a name that the cluster, or a pod of a backup or a restore,
	// needs.
	ReasonNameTaken = "NameTaken"
	// ReasonLegacyMembers means that pods or volumes of coreos/etcd-operator are there: nothing is changed or started beside
	// them. Save their data, and go on as docs/install.md says.
	ReasonLegacyMembers = "LegacyMembers"
	// ReasonRanBefore means that coreos/etcd-operator has run a cluster under this object, and its data is not here: create
	// an EtcdRestore for it, or delete the EtcdCluster and create it again for an empty one.
	ReasonRanBefore = "RanBefore"
	// ReasonStrangerPod means that a pod has the cluster's labels and is not the cluster's: it is left alone, and the cluster
	// is cared for all the same. Delete it, or take the labels off it.
	ReasonStrangerPod = "StrangerPod"
	// ReasonForeignVolume means that a PersistentVolumeClaim has the cluster's labels and is not provably the cluster's, such
	// as a copy: it is neither used nor deleted. Look at what is on it before you delete it. It is in the way only where a member has to have its name.
	ReasonForeignVolume = "ForeignVolume"
	// ReasonVolumesExist means that volumes of earlier clusters are there that cannot be taken up; the message says why.
	ReasonVolumesExist = "VolumesExist"
	// ReasonUnsupportedVersion means that this operator does not run the etcd version in spec.version.
	ReasonUnsupportedVersion = "UnsupportedVersion"
	// ReasonInvalidOption means that spec.etcd or spec.pod.etcdEnv has an option that cannot be used.
	ReasonInvalidOption = "InvalidOption"
	// ReasonInvalidPod means that spec.pod cannot work.
	ReasonInvalidPod = "InvalidPod"
	// ReasonInvalidService means that Kubernetes refuses a Service as spec.services asks for it.
	ReasonInvalidService = "InvalidService"
	// ReasonVersionRefused means that there is no safe way from the running version to spec.version in one step.
	ReasonVersionRefused = "VersionRefused"
	// ReasonVolumeShrinks means that the spec asks for less storage than a volume has: volumes cannot shrink.
	ReasonVolumeShrinks = "VolumeShrinks"
	// ReasonCorrupt means that etcd reports that its members' data differ (alarm CORRUPT): nothing is updated before that is
	// mended. The message says whom etcd names; compare the members before any is replaced.
	ReasonCorrupt = "Corrupt"
	// ReasonNoSpace means that a member's database has reached its quota (alarm NOSPACE), and etcd takes no writes: raise
	// spec.etcd.quotaBackendBytes, or compact and defragment, then disarm the alarm.
	ReasonNoSpace = "NoSpace"
	// ReasonTLSNotSupported means that this release does not carry spec.TLS out.
	ReasonTLSNotSupported = "TLSNotSupported"
	// ReasonScheduled means that the next backup is not due yet; Completed that the one asked for is over; Suspended that
	// spec.suspend keeps new ones from being taken.
	ReasonScheduled = "Scheduled"
	ReasonCompleted = "Completed"
	ReasonSuspended = "Suspended"
	// ReasonBackingUp means that a backup is being taken, checked, or old ones deleted.
	ReasonBackingUp = "BackingUp"
	// ReasonWaitingForStorage means that another EtcdBackup of the namespace is at work where this one would write the same
	// object: one with coreos/etcd-operator's names, or on the same volume. It is waited for some hours at most.
	ReasonWaitingForStorage = "WaitingForStorage"
	// ReasonWaitingForRetry means that a try has failed and another one follows.
	ReasonWaitingForRetry = "WaitingForRetry"
	// ReasonAgentLost means that the pod that did the work ended without a word.
	ReasonAgentLost = "AgentLost"
	// ReasonTimeout means that the work was not done in the time that it was given.
	ReasonTimeout = "Timeout"
	// ReasonAccepted means that an object is carried out.
	ReasonAccepted = "Accepted"
	// ReasonClustersBusy is why an OperatorCondition tells OLM to wait: restores, updates or changes of members are under way.
	ReasonClustersBusy = "ClustersBusy"
	// ReasonClusterMissing means that there is no EtcdCluster of that name in the namespace: create it.
	ReasonClusterMissing = "ClusterMissing"
)
