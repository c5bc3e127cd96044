package v1beta2

// # Conditions
//
// Each says how an object is in one respect, with a reason for programs and a message for people.
const (
	// ConditionReady is true of an EtcdCluster that is available and runs as its spec asks: kubectl wait, Flux and Argo CD can
	// wait for it. Its reason and message are those of what matters most, also while it is true: what Degraded says while that
	// is true, and otherwise what Progressing says.
	ConditionReady = "Ready"
	// ConditionAvailable is true of an EtcdCluster while a quorum of its voters answers.
	ConditionAvailable = "Available"
	// ConditionProgressing is true while the operator is doing, or waiting for, something.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is true of an EtcdCluster while a member cannot be counted on, or while the operator cannot carry the
	// spec out.
	ConditionDegraded = "Degraded"
	// ConditionAccepted is false of an EtcdBackup or EtcdRestore that cannot be carried out as it is.
	ConditionAccepted = "Accepted"
	// ConditionBackedUp is true of an EtcdBackup if the last try to take a backup succeeded, false if it failed, with its
	// reason, or if none was made for so long that another one was to follow it (WaitingForStorage), and unknown before the
	// first one is over. To be told of failures that last, alert on status.lastSuccessDate, or on the metric
	// etcd_operator_backup_last_success_timestamp_seconds.
	ConditionBackedUp = "BackedUp"
	// ConditionRestored is true of an EtcdRestore once its cluster runs on the restored data.
	ConditionRestored = "Restored"
)

// # Objects of every kind
//
// In conditions and events of all kinds.
const (
	// ReasonAccepted means that the object is carried out.
	//
	// Nothing.
	ReasonAccepted = "Accepted"
	// ReasonTerminating means that the object, or its namespace, is being deleted.
	//
	// Nothing. If it does not go, see what the message waits for. Do not take the finalizer off an EtcdRestore by hand: its
	// cluster needs the object, which says where the snapshot is, until it is up or has gone back to what it held.
	ReasonTerminating = "Terminating"
	// ReasonPaused means that spec.paused of the EtcdCluster keeps the operator's hands off: nothing is changed, healed or
	// restored.
	//
	// Set spec.paused to false to have the operator go on.
	ReasonPaused = "Paused"
	// ReasonActionFailed means that a step failed, mostly a request to the API server, and is tried again.
	//
	// Wait a minute. If it stays, do what the message says.
	ReasonActionFailed = "ActionFailed"
	// ReasonWaitingForPods means that pods are being made, have no address yet, or are on their way out.
	//
	// Nothing. If it stays, kubectl describe pod says what a pod waits for.
	ReasonWaitingForPods = "WaitingForPods"
	// ReasonPodCannotStart means that Kubernetes cannot run a pod, or refuses to make it. The message has its reason: no node
	// with room, a volume or an image that cannot be had, a quota, a policy.
	//
	// Fix what the message names.
	ReasonPodCannotStart = "PodCannotStart"
	// ReasonInvalidPod means that spec.pod cannot work, or sets what is the operator's own.
	//
	// Correct the field that the message names. Until then an EtcdCluster runs as the last spec that could work.
	ReasonInvalidPod = "InvalidPod"
	// ReasonNameTaken means that an object of somebody else has a name that is needed.
	//
	// Delete that object, or give this one another name.
	ReasonNameTaken = "NameTaken"
	// ReasonLegacyMembers means that pods or volumes of coreos/etcd-operator are there. They stay as they are, and nothing is
	// changed or started beside them.
	//
	// Save their data, and go on as docs/install.md says under "From coreos/etcd-operator". Do not delete the EtcdCluster: they
	// go with it.
	ReasonLegacyMembers = "LegacyMembers"
	// ReasonOperatedByAnother means that another operator acts on the object, the one that status.operator names, so that this
	// one leaves it alone. Only an event has it.
	//
	// Have one operator watch this namespace, not two. To remove one, delete its Deployment (from OLM: its Subscription and
	// ClusterServiceVersion): make undeploy and kubectl delete -f delete every EtcdCluster. If the other one is gone for good or
	// does not look after this namespace any more, the message says how to have this one take its place.
	ReasonOperatedByAnother = "OperatedByAnother"
	// ReasonTookOver means that the operator that acted on the object is gone, and this one acts from now on. Only an event
	// has it.
	//
	// Nothing.
	ReasonTookOver = "TookOver"
	// ReasonObservationLogged means that the operator has written to its log what it observed of an EtcdCluster, as the annotation
	// etcd.database.coreos.com/log-observed asks. Only an event has it.
	//
	// Take the line from the log, as docs/operations.md says under "To report a decision".
	ReasonObservationLogged = "ObservationLogged"
	// ReasonObservationNotLogged means that the annotation etcd.database.coreos.com/log-observed asks for what the operator
	// observes, and that its log holds errors only. Only an event has it.
	//
	// Start the operator with --zap-log-level=info, which has it written to the log.
	ReasonObservationNotLogged = "ObservationNotLogged"
	// ReasonTLSNotSupported means that this release does not run clusters with spec.tls, or TLS, nor back them up.
	//
	// Remove spec.tls.static, or TLS.static, to run the cluster without TLS.
	ReasonTLSNotSupported = "TLSNotSupported"
	// ReasonClustersBusy means that restores, updates or changes of members are under way. Only an OperatorCondition has it.
	//
	// Nothing: OLM upgrades the operator once they have ended. To have it do so at once, use spec.overrides of the
	// OperatorCondition.
	ReasonClustersBusy = "ClustersBusy"
)

// # Work of EtcdBackups and EtcdRestores
//
// In any condition of the two kinds.
const (
	// ReasonCompleted means that what was asked for is over.
	//
	// Nothing. To have it done again, create another object.
	ReasonCompleted = "Completed"
	// ReasonWaitingForRetry means that a try has failed, and another one follows. The message says when, and what the last one
	// failed for.
	//
	// See to what the message names. The pod of the last try is kept for its log until the next one.
	ReasonWaitingForRetry = "WaitingForRetry"
	// ReasonAgentLost means that the pod that did the work ended without a word, or was deleted: it was killed, evicted, or
	// out of memory.
	//
	// Another try follows. If it happens again, raise spec.pod.resources, or look at the pod's node.
	ReasonAgentLost = "AgentLost"
	// ReasonTimeout means that the work was not done in the time that it was given.
	//
	// Raise the time-out that the message names, or see what slows etcd, the storage or the node down.
	ReasonTimeout = "Timeout"
	// ReasonClusterMissing means that there is no EtcdCluster of that name in the namespace.
	//
	// Create it, or correct spec.etcdCluster. An EtcdRestore waits for it for an hour.
	ReasonClusterMissing = "ClusterMissing"
)
