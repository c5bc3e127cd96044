package v1beta2

// # EtcdClusters that are well, or at work
//
// In Progressing and Ready of an EtcdCluster, where nothing else is said.
const (
	// ReasonSpecReached means that everything is as the spec asks.
	//
	// Nothing.
	ReasonSpecReached = "SpecReached"
	// ReasonAsExpected means that nothing is degraded, or, in an OperatorCondition, nothing holds an upgrade of the operator up.
	//
	// Nothing.
	ReasonAsExpected = "AsExpected"
	// ReasonHasQuorum means that a quorum of the voters answers. Only Available has it.
	//
	// Nothing.
	ReasonHasQuorum = "HasQuorum"
	// ReasonServing means that the cluster has come up, or clients are led to members that have.
	//
	// Nothing.
	ReasonServing = "Serving"
	// ReasonCreating means that volumes or pods are being created.
	//
	// Nothing.
	ReasonCreating = "Creating"
	// ReasonBootstrapping means that the first members are being prepared.
	//
	// Nothing.
	ReasonBootstrapping = "Bootstrapping"
	// ReasonStarting means that a member was given leave to start etcd.
	//
	// Nothing.
	ReasonStarting = "Starting"
	// ReasonAdopting means that the volumes of an earlier cluster of the same name are taken up.
	//
	// Nothing.
	ReasonAdopting = "Adopting"
	// ReasonVolumesNotRetained means that the EtcdCluster has volumes and no volumeReclaimPolicy, so that they are deleted with it,
	// and all data. Only an event has it.
	//
	// Set spec.volumeReclaimPolicy to Retain to keep them, or to Delete if that is wanted.
	ReasonVolumesNotRetained = "VolumesNotRetained"
	// ReasonScaling means that members are added or removed to reach spec.size.
	//
	// Nothing.
	ReasonScaling = "Scaling"
	// ReasonRepairing means that a member's pod is made again on its volume.
	//
	// Nothing.
	ReasonRepairing = "Repairing"
	// ReasonSpecChanged means that a pod that held nothing was made from an older spec and is made again.
	//
	// Nothing.
	ReasonSpecChanged = "SpecChanged"
	// ReasonUpdating means that members are brought to the spec, one after the other.
	//
	// Nothing.
	ReasonUpdating = "Updating"
	// ReasonPullingImage means that an image is fetched to the nodes before any member is restarted with it.
	//
	// Nothing.
	ReasonPullingImage = "PullingImage"
	// ReasonWaitingForMember means that an update goes on once the member is healthy that was updated last.
	//
	// Nothing. If that takes long, it becomes UpdateStopped.
	ReasonWaitingForMember = "WaitingForMember"
	// ReasonWaitingForClients means that a member is about to stop and clients are led to others first.
	//
	// Nothing.
	ReasonWaitingForClients = "WaitingForClients"
	// ReasonWaitingForVersion means that all members run the new version, and etcd has yet to raise or lower its data or its
	// own cluster version.
	//
	// Nothing.
	ReasonWaitingForVersion = "WaitingForVersion"
	// ReasonWaitingForVolume means that a volume is growing.
	//
	// Nothing. If it stays, see the events of the PersistentVolumeClaim.
	ReasonWaitingForVolume = "WaitingForVolume"
	// ReasonWaitingForResize means that a node has not resized a pod yet. The message has its reason.
	//
	// Nothing, unless the node has no room: make some, or ask for less in spec.pod.resources.
	ReasonWaitingForResize = "WaitingForResize"
	// ReasonWaitingForEtcd means that etcd does not answer yet, or asks to try again later.
	//
	// Nothing. If it stays, look at the members' logs: kubectl logs POD -c etcd.
	ReasonWaitingForEtcd = "WaitingForEtcd"
	// ReasonWaitingForLearner means that a new member is copying the data.
	//
	// Nothing. It takes as long as the database takes over the network.
	ReasonWaitingForLearner = "WaitingForLearner"
	// ReasonWaitingForBudget means that the PodDisruptionBudget is being changed so that nobody else takes a member away at the
	// same time.
	//
	// Nothing.
	ReasonWaitingForBudget = "WaitingForBudget"
	// ReasonWaitingForPrevious means that objects of a deleted cluster of the same name are still going away.
	//
	// Nothing. If it stays, see what holds the object that the message names.
	ReasonWaitingForPrevious = "WaitingForPrevious"
)

// # EtcdClusters whose spec cannot be carried out
//
// In Degraded, Progressing and Ready of an EtcdCluster. A cluster that runs goes on as the last spec that could be carried out.
const (
	// ReasonUnsupportedVersion means that this operator does not run the etcd version in spec.version.
	//
	// Set it to one that the message names.
	ReasonUnsupportedVersion = "UnsupportedVersion"
	// ReasonVersionRefused means that there is no safe way from the running version to spec.version in one step.
	//
	// Go by the versions that the message names, one minor version after the other.
	ReasonVersionRefused = "VersionRefused"
	// ReasonInvalidOption means that spec.etcd or spec.pod.etcdEnv has an option that cannot be used.
	//
	// Correct or remove the fields that the message names.
	ReasonInvalidOption = "InvalidOption"
	// ReasonInvalidService means that Kubernetes refuses a Service as spec.services asks for it.
	//
	// Correct the field that the message names.
	ReasonInvalidService = "InvalidService"
	// ReasonVolumeShrinks means that the spec asks for less storage than a volume has: volumes cannot shrink.
	//
	// Raise spec.pod.persistentVolumeClaimSpec.resources.requests.storage to what it was.
	ReasonVolumeShrinks = "VolumeShrinks"
	// ReasonVolumesExist means that volumes with the cluster's labels are there that cannot be taken up: they hold the data of
	// several clusters, or do not say whose. Nothing is started beside them.
	//
	// Keep those of one cluster, and delete the others' once you are sure that nobody needs them.
	ReasonVolumesExist = "VolumesExist"
	// ReasonRanBefore means that coreos/etcd-operator has run a cluster under this object, and its data is not here. Nothing is
	// started in its place.
	//
	// Create an EtcdRestore for it. If it may start empty, delete the EtcdCluster and create it again.
	ReasonRanBefore = "RanBefore"
)

// # EtcdClusters with objects of others
//
// In Degraded and Ready of an EtcdCluster.
const (
	// ReasonStrangerPod means that a pod has the cluster's labels and is not the cluster's. It is left alone, and the cluster is
	// cared for all the same.
	//
	// Delete it, or take the labels off it.
	ReasonStrangerPod = "StrangerPod"
	// ReasonForeignVolume means that a PersistentVolumeClaim has the cluster's labels and is not provably the cluster's, such as
	// a copy. It is neither used nor deleted, and in the way only where a member has to have its name.
	//
	// Look at what is on it; then delete it, or hand it to the cluster as the message says.
	ReasonForeignVolume = "ForeignVolume"
)
