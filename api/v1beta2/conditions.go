package v1beta2

// # Conditions
//
// Each describes one aspect of an object, with a reason for programs and a message for people.
const (
	// ConditionReady is true of an EtcdCluster that is available and matches its spec, and whose certificates have not expired: kubectl
	// wait, Flux and Argo CD can wait for it. Its reason and message are those of Degraded while that is true, and otherwise those of Progressing, also
	// while it is true itself. Of an EtcdUser or EtcdRole it is true while etcd has it as the spec says.
	ConditionReady = "Ready"
	// ConditionAvailable is true of an EtcdCluster while it has quorum, a majority of its voters answers, and no alarm of etcd has it
	// refuse what clients ask for.
	ConditionAvailable = "Available"
	// ConditionProgressing is true while the operator is doing, or waiting for, something.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is true of an EtcdCluster while a member is unhealthy, or while the operator cannot reconcile its spec.
	ConditionDegraded = "Degraded"
	// ConditionCertificatesValid is true of an EtcdCluster with TLS while all of its certificates can be used and none is about to expire.
	// Clusters without TLS do not have it.
	ConditionCertificatesValid = "CertificatesValid"
	// ConditionAuthenticated is true of an EtcdCluster while etcd's authentication is on, and the operator is its user root. Clusters that
	// spec.auth never asked for it do not have it.
	ConditionAuthenticated = "Authenticated"
	// ConditionAnomaly is true of an EtcdCluster while a member deviates from what it was like in the last day, and unknown until a member is
	// known for a day, or where none could be compared for an hour. Those that are paused or hibernate, and those
	// with the mode Off of spec.autopilot.anomaly, do not have it.
	ConditionAnomaly = "Anomaly"
	// ConditionAccepted is false of an EtcdBackup or EtcdRestore whose spec cannot be carried out.
	ConditionAccepted = "Accepted"
	// ConditionBackedUp is true of an EtcdBackup if the last attempt to take a backup succeeded, false if it failed, with its
	// reason, or if a scheduled backup was missed because it had to wait (WaitingForStorage), and unknown before the first
	// attempt has finished. It says nothing of how old the last good backup is: UpToDate does.
	ConditionBackedUp = "BackedUp"
	// ConditionUpToDate is true of an EtcdBackup whose last good backup is not older than twice the time between two of them, false if it
	// is, or if none was taken in that time since its creation, and unknown before the first one. One that takes no more backups, a
	// single one or while it is suspended, does not have it.
	ConditionUpToDate = "UpToDate"
	// ConditionRestored is true of an EtcdRestore once its cluster runs on the restored data.
	ConditionRestored = "Restored"
)

// # Objects of every kind
//
// In conditions and events of all kinds.
const (
	// ReasonAccepted means that the spec is valid and is carried out.
	//
	// Nothing.
	ReasonAccepted = "Accepted"
	// ReasonTerminating means that the object, or its namespace, is being deleted.
	//
	// Nothing. If the deletion does not complete, see what the message waits for. Do not remove the finalizer of an EtcdRestore
	// by hand: until its cluster is up, or back on its previous data, it needs the object, which says where the snapshot is.
	ReasonTerminating = "Terminating"
	// ReasonPaused means that reconciliation is paused by spec.paused of the EtcdCluster: nothing is changed, repaired or
	// restored. Only volumeReclaimPolicy Retain is carried out.
	//
	// Set spec.paused to false to resume reconciliation.
	ReasonPaused = "Paused"
	// ReasonHibernating means that spec.hibernate of the EtcdCluster is true, and that all members are being stopped. Their volumes stay.
	//
	// Nothing.
	ReasonHibernating = "Hibernating"
	// ReasonHibernated means that all members are stopped, or about to be, because spec.hibernate of the EtcdCluster is true: nobody is
	// served, no backups are taken, and EtcdUsers and EtcdRoles wait.
	//
	// Nothing. To start the members again, set spec.hibernate of the EtcdCluster to false.
	ReasonHibernated = "Hibernated"
	// ReasonWaking means that the members of a cluster that was hibernated start again.
	//
	// Nothing. After five minutes it counts as a lost quorum: look at the pods that the message names.
	ReasonWaking = "Waking"
	// ReasonActionFailed means that a step failed, usually a request to the API server, and is retried.
	//
	// Wait a minute. If it persists, do what the message says.
	ReasonActionFailed = "ActionFailed"
	// ReasonWriteRefused means that the API server refuses a write: because of a quota, an admission policy or webhook, an invalid
	// value, or the operator's rights; or that a Secret with certificates cannot be written, because it is immutable, or is being deleted
	// and finalizers hold it; or that somebody changes or deletes NAME-client again and again, which holds a replacement of authorities
	// up. The message names the write and says why. Whatever does not depend on it goes on.
	//
	// Allow what the message names, or change the spec. It is tried again within 30 seconds, and at once after an edit of the spec. Delete
	// a Secret that is immutable; of one that is being deleted, remove the finalizers. Let nobody but the operator write to NAME-client.
	ReasonWriteRefused = "WriteRefused"
	// ReasonWaitingForPods means that pods are being created, have no IP address yet, or are terminating.
	//
	// Nothing. If it persists, kubectl describe pod says what a pod waits for.
	ReasonWaitingForPods = "WaitingForPods"
	// ReasonPodCannotStart means that Kubernetes cannot run a pod. The message says why: no node fits, a volume cannot be attached, an
	// image cannot be pulled; or, for the pod of a backup or a restore, that a quota is exceeded or a policy forbids it.
	//
	// Fix what the message names.
	ReasonPodCannotStart = "PodCannotStart"
	// ReasonInvalidPod means that spec.pod is invalid, or sets what is reserved for the operator.
	//
	// Correct the field that the message names. Until then the operator keeps an EtcdCluster on its last valid spec.
	ReasonInvalidPod = "InvalidPod"
	// ReasonNameTaken means that an object with another owner already has a name that is needed, or that the operator needs the name
	// itself. Of two EtcdUsers or EtcdRoles with one name in etcd, the older one has it. An EtcdUser is not to be the operator's own user,
	// and with spec.tls.managed the user client gets no password: all who have the cluster's client certificate are that user.
	//
	// Delete the object that has the name, if there is one, or give this one another name.
	ReasonNameTaken = "NameTaken"
	// ReasonLegacyMembers means that pods or volumes of coreos/etcd-operator exist. They are left as they are, and nothing is
	// changed or started beside them.
	//
	// Save their data, and continue as docs/migrate.md says under "From coreos/etcd-operator". Do not delete the EtcdCluster:
	// they are deleted with it.
	ReasonLegacyMembers = "LegacyMembers"
	// ReasonOperatedByAnother means that another operator reconciles the object, the one that status.operator names, so this
	// one does not. Only an event has it.
	//
	// Have one operator watch this namespace, not two. To remove one, delete its Deployment (from OLM: its Subscription and
	// ClusterServiceVersion): make undeploy and kubectl delete -f delete every EtcdCluster. If the other one is gone for good or
	// no longer watches this namespace, the message says how to have this one take over.
	ReasonOperatedByAnother = "OperatedByAnother"
	// ReasonTookOver means that the operator that reconciled the object is gone, and this one has taken over. Only an event
	// has it.
	//
	// Nothing.
	ReasonTookOver = "TookOver"
	// ReasonObservationLogged means that the operator has written to its log what it observed of an EtcdCluster, as the annotation
	// etcd.database.coreos.com/log-observed asks. Only an event has it.
	//
	// Take the line from the log, as docs/operations.md says under "To report a decision".
	ReasonObservationLogged = "ObservationLogged"
	// ReasonObservationNotLogged means that the annotation etcd.database.coreos.com/log-observed asks the operator to log what it
	// observes, but its log level is error. Only an event has it.
	//
	// Start the operator with --zap-log-level=info. With Helm, set logLevel to info.
	ReasonObservationNotLogged = "ObservationNotLogged"
	// ReasonClustersBusy means that restores, updates or membership changes are in progress. Only an OperatorCondition has it.
	//
	// Nothing: OLM upgrades the operator once they have finished. To upgrade it at once, use spec.overrides of the
	// OperatorCondition.
	ReasonClustersBusy = "ClustersBusy"
)

// # Work of EtcdBackups and EtcdRestores
//
// In any condition of the two kinds.
const (
	// ReasonCompleted means that what was asked for is done.
	//
	// Nothing. To have it done again, create another object.
	ReasonCompleted = "Completed"
	// ReasonWaitingForRetry means that an attempt has failed and is retried. The message says when, and why the last one
	// failed.
	//
	// Fix what the message names. The pod of the last attempt is kept for its log until the next one.
	ReasonWaitingForRetry = "WaitingForRetry"
	// ReasonAgentLost means that the pod that did the work terminated without a result, or was deleted: it was killed, evicted,
	// or out of memory.
	//
	// It is retried. If it happens again, raise spec.pod.resources, or check the pod's node.
	ReasonAgentLost = "AgentLost"
	// ReasonTimeout means that the work timed out.
	//
	// Raise the timeout that the message names, or find what slows down etcd, the storage or the node.
	ReasonTimeout = "Timeout"
	// ReasonClusterMissing means that there is no EtcdCluster of that name in the namespace.
	//
	// Create it, or correct spec.etcdCluster. An EtcdRestore waits for it for an hour.
	ReasonClusterMissing = "ClusterMissing"
)
