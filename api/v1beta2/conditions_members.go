package v1beta2

// # Members that fail
//
// In Degraded, Progressing and Ready of an EtcdCluster, and in the events of what is done about it.
const (
	// ReasonMemberDown means that a voter does not answer. The others serve.
	//
	// Nothing, if its pod is coming back. Else see the pod's events, kubectl logs POD -c etcd, and its node.
	ReasonMemberDown = "MemberDown"
	// ReasonUpdateStopped means that an update does not go on because a member does not get healthy.
	//
	// Fix what the message names, or go back to the old spec: the members that have the new one go back first.
	ReasonUpdateStopped = "UpdateStopped"
	// ReasonDiskHangs means that a member's disk does not answer. Its pod is ended, and comes back on its volume.
	//
	// Look at the storage of the node that the member is on.
	ReasonDiskHangs = "DiskHangs"
	// ReasonDiskSlow means that the disk of the member that leads is slow. Leadership is moved if another one is quicker.
	//
	// Give etcd a quicker disk, or one for itself.
	ReasonDiskSlow = "DiskSlow"
	// ReasonPodEnded means that a pod ended for good: an eviction, or a node that was shut down. It is made again.
	//
	// Nothing.
	ReasonPodEnded = "PodEnded"
	// ReasonPodLost means that a pod is gone, and with it the data in its emptyDir volume. The member is replaced.
	//
	// Nothing. With spec.pod.persistentVolumeClaimSpec members keep their data.
	ReasonPodLost = "PodLost"
	// ReasonVolumeLost means that a member's data is gone. The member is replaced.
	//
	// Nothing. See who deleted the volume.
	ReasonVolumeLost = "VolumeLost"
	// ReasonDataDamaged means that a member cannot start because its data is damaged. It is replaced.
	//
	// Look at the disk that it was on.
	ReasonDataDamaged = "DataDamaged"
	// ReasonNodeLost means that a pod does not go away because its node does not report. The member is replaced.
	//
	// Bring the node back, or delete it.
	ReasonNodeLost = "NodeLost"
	// ReasonForeignData means that a volume holds the data of another member or cluster. The member is replaced.
	//
	// Find out who put it there. Data comes back by an EtcdRestore, not by hand: the volume is deleted, with what is on it.
	ReasonForeignData = "ForeignData"
	// ReasonNeverStarted means that a listed member did not start in time. It is replaced.
	//
	// If it happens again, look at the new member's log: kubectl logs POD -c etcd.
	ReasonNeverStarted = "NeverStarted"
	// ReasonNotAMember means that a pod or volume of the cluster belongs to no member that the quorum lists. It is deleted.
	//
	// Nothing.
	ReasonNotAMember = "NotAMember"
)

// # Clusters whose quorum or data is in danger
//
// In Degraded, Available, Progressing and Ready of an EtcdCluster.
const (
	// ReasonQuorumAtRisk means that the next step would cost the quorum.
	//
	// Bring back the members that are down.
	ReasonQuorumAtRisk = "QuorumAtRisk"
	// ReasonQuorumLost means that no quorum of the voters answers. Nothing is removed or deleted meanwhile.
	//
	// Bring back the pods and nodes that the message names.
	ReasonQuorumLost = "QuorumLost"
	// ReasonDataLost means that so much data is gone that a quorum can never form again.
	//
	// If the cluster has been up, create an EtcdRestore: it saves what is left first, and another EtcdCluster in its place would
	// be empty. If it has never been up, save what you need of what the message names by hand; then delete the EtcdCluster and
	// create it again.
	ReasonDataLost = "DataLost"
	// ReasonClusterIDMismatch means that a pod answers for another cluster. Nothing is changed until it is gone.
	//
	// Find out where its data comes from. If a snapshot was put onto its volume by hand, or anybody may need what is on it, save
	// that first: data comes back by an EtcdRestore. Then delete the pod and its volume.
	ReasonClusterIDMismatch = "ClusterIDMismatch"
	// ReasonRevisionRegressed means that the data went back in time outside the operator. Nothing is changed.
	//
	// Create an EtcdRestore.
	ReasonRevisionRegressed = "RevisionRegressed"
	// ReasonCorrupt means that etcd reports that its members' data differ (alarm CORRUPT). It answers no request for keys, and
	// nothing is updated. The message says whom etcd names, which may be the wrong one.
	//
	// Compare the members before any is replaced, as the message says; then disarm the alarm.
	ReasonCorrupt = "Corrupt"
	// ReasonNoSpace means that a member's database has reached its quota (alarm NOSPACE), and etcd takes no writes.
	//
	// Raise spec.etcd.quotaBackendBytes, or delete keys, compact and defragment; then disarm the alarm.
	ReasonNoSpace = "NoSpace"
)
