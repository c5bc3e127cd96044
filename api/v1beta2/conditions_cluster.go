package v1beta2

// # EtcdClusters that are healthy, or being reconciled
//
// In Progressing and Ready of an EtcdCluster, unless noted otherwise.
const (
	// ReasonSpecReached means that the cluster matches its spec.
	//
	// Nothing.
	ReasonSpecReached = "SpecReached"
	// ReasonAsExpected means that nothing is degraded, or, in an OperatorCondition, nothing delays an upgrade of the operator.
	//
	// Nothing.
	ReasonAsExpected = "AsExpected"
	// ReasonHasQuorum means that a majority of the voters answers. Only Available has it.
	//
	// Nothing.
	ReasonHasQuorum = "HasQuorum"
	// ReasonServing means that the cluster has come up, or members are added to the client Service.
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
	// ReasonStarting means that members were permitted to start etcd.
	//
	// Nothing.
	ReasonStarting = "Starting"
	// ReasonAdopting means that the volumes of an earlier cluster of the same name are adopted.
	//
	// Nothing.
	ReasonAdopting = "Adopting"
	// ReasonVolumesNotRetained means that the EtcdCluster has volumes and no volumeReclaimPolicy, so they are deleted with it,
	// and all data. Only an event has it.
	//
	// Set spec.volumeReclaimPolicy to Retain to keep them, or to Delete to confirm that.
	ReasonVolumesNotRetained = "VolumesNotRetained"
	// ReasonPlaintextExposed means that spec.services.client.type makes the cluster reachable from outside of Kubernetes, and clients
	// talk to it in plain text, without authentication. Only an event has it.
	//
	// Use ClusterIP; or say who may reach it, in spec.networkPolicy with mode Strict or, for a LoadBalancer, in
	// spec.services.client.loadBalancerSourceRanges.
	ReasonPlaintextExposed = "PlaintextExposed"
	// ReasonScaling means that members are added or removed to reach spec.size.
	//
	// Nothing.
	ReasonScaling = "Scaling"
	// ReasonRepairing means that a member's pod is recreated on its volume.
	//
	// Nothing.
	ReasonRepairing = "Repairing"
	// ReasonSpecChanged means that a pod without data was created from an older spec and is recreated.
	//
	// Nothing.
	ReasonSpecChanged = "SpecChanged"
	// ReasonUpdating means that members are updated to the spec, one after the other: restarted, recreated or replaced.
	//
	// Nothing.
	ReasonUpdating = "Updating"
	// ReasonSwitchingTransport means that clients or members are switched between plain text and TLS, step by step. Between the steps the
	// members are updated.
	//
	// Nothing, unless it goes on: then do what the message names. Mend certificates (CertificatesValid), or admit members to each other's
	// ports 2380 and 2382, and the operator to their port 2381.
	ReasonSwitchingTransport = "SwitchingTransport"
	// ReasonPullingImage means that an image is pulled to the nodes before any member is restarted with it.
	//
	// Nothing.
	ReasonPullingImage = "PullingImage"
	// ReasonWaitingForMember means that an update continues once the member that was updated last is healthy.
	//
	// Nothing. If that takes long, it becomes UpdateStopped.
	ReasonWaitingForMember = "WaitingForMember"
	// ReasonWaitingForClients means that a member is about to stop and has been removed from the client Service: its clients get
	// time to move to other members.
	//
	// Nothing.
	ReasonWaitingForClients = "WaitingForClients"
	// ReasonWaitingForVersion means that all members run the new version, and etcd has yet to raise or lower its data or its
	// own cluster version.
	//
	// Nothing.
	ReasonWaitingForVersion = "WaitingForVersion"
	// ReasonWaitingForVolume means that a volume is being expanded.
	//
	// Nothing. If it persists, see the events of the PersistentVolumeClaim.
	ReasonWaitingForVolume = "WaitingForVolume"
	// ReasonWaitingForResize means that a node has not resized a pod yet. The message says why.
	//
	// Nothing, unless the node lacks capacity: free some, or request less in spec.pod.resources.
	ReasonWaitingForResize = "WaitingForResize"
	// ReasonWaitingForEtcd means that etcd does not answer yet, or refuses a change for now.
	//
	// Nothing. If it persists, check the members' logs: kubectl logs POD -c etcd.
	ReasonWaitingForEtcd = "WaitingForEtcd"
	// ReasonWaitingForLearner means that a new member is a learner, and waits to join or is still copying the data.
	//
	// Usually nothing: it takes as long as transferring the database over the network. If it does not end, kubectl logs POD -c etcd says
	// which member cannot be reached, or which list of members it gave ("waiting until etcd may start"). While
	// etcd's alarm CORRUPT stands no learner gets a vote: see the reason Corrupt.
	ReasonWaitingForLearner = "WaitingForLearner"
	// ReasonWaitingForBudget means that the PodDisruptionBudget is being changed so that no member is evicted at the same time.
	//
	// Nothing.
	ReasonWaitingForBudget = "WaitingForBudget"
	// ReasonWaitingForPrevious means that objects of a deleted cluster of the same name are still terminating.
	//
	// Nothing. If it persists, see which finalizer holds the object that the message names.
	ReasonWaitingForPrevious = "WaitingForPrevious"
)

// # EtcdClusters whose spec cannot be carried out
//
// In Degraded, Progressing and Ready of an EtcdCluster. A running cluster is kept on its last valid spec.
const (
	// ReasonUnsupportedVersion means that this operator does not support the etcd version in spec.version.
	//
	// Set it to one that the message names.
	ReasonUnsupportedVersion = "UnsupportedVersion"
	// ReasonInvalidRepository means that spec.repository has a tag or a digest. The tag follows from spec.version.
	//
	// Remove what the message names.
	ReasonInvalidRepository = "InvalidRepository"
	// ReasonVersionRefused means that etcd cannot safely go from the running version to spec.version in one step.
	//
	// Go through the versions that the message names, one minor version after the other.
	ReasonVersionRefused = "VersionRefused"
	// ReasonInvalidOption means that spec.etcd or spec.pod.etcdEnv sets an option that is invalid or not supported.
	//
	// Correct or remove the fields that the message names.
	ReasonInvalidOption = "InvalidOption"
	// ReasonInvalidWindow means that spec.maintenanceWindow.schedule, or its time zone, cannot be parsed.
	//
	// Correct it: a schedule has the five fields of cron or is a word such as @weekly, a time zone is such as Europe/Berlin.
	ReasonInvalidWindow = "InvalidWindow"
	// ReasonInvalidService means that the API server rejects a Service as spec.services describes it.
	//
	// Correct the field that the message names.
	ReasonInvalidService = "InvalidService"
	// ReasonNetworkPolicyMissing means that the NetworkPolicy of the members is not as spec.networkPolicy asks: the API server refuses
	// it, the operator lacks the right, or another owner has one of that name. The members are reconciled all the same.
	//
	// Fix what the message names, or set spec.networkPolicy.mode to None to do without the NetworkPolicy.
	ReasonNetworkPolicyMissing = "NetworkPolicyMissing"
	// ReasonMonitoringMissing means that the PodMonitor of the members, or the PrometheusRule of the namespace, is not as spec.monitoring asks:
	// the API server refuses it, the operator lacks the right, or another owner has one of that name. The members are reconciled all the same.
	//
	// Fix what the message names, or set spec.monitoring.mode to Off to do without.
	ReasonMonitoringMissing = "MonitoringMissing"
	// ReasonOperatorUnknown means that spec.networkPolicy.mode is Strict and the operator does not know which labels its own pods have,
	// so that the NetworkPolicy would shut it out. Mode Peers is in force instead.
	//
	// Run the operator in Kubernetes, with the variables POD_LABEL_* of config/manager/manager.yaml; or choose another mode.
	ReasonOperatorUnknown = "OperatorUnknown"
	// ReasonVolumeShrinks means that the spec requests less storage than a volume has: volumes cannot shrink.
	//
	// Raise spec.pod.persistentVolumeClaimSpec.resources.requests.storage to what it was.
	ReasonVolumeShrinks = "VolumeShrinks"
	// ReasonTLSSwitchNotSupported means that volumes or pods of members exist, as of a cluster that was deleted or whose status was lost,
	// and that these served each other with TLS where the spec asks for none, or the other way round.
	//
	// Give spec.tls as the cluster of this name had it. Once it runs, spec.tls can be changed at any time.
	ReasonTLSSwitchNotSupported = "TLSSwitchNotSupported"
	// ReasonVolumesExist means that volumes with the cluster's labels exist that cannot be adopted: they hold the data of several
	// clusters, or it is unknown whose, or only that of members which were replaced because it was wrong. Nothing is started beside them.
	//
	// Keep those of one cluster, and delete the others once you are sure that their data is not needed; if only wrong data is left, restore a backup.
	ReasonVolumesExist = "VolumesExist"
	// ReasonRanBefore means that coreos/etcd-operator has run this EtcdCluster, and its data is missing. Nothing is started in
	// its place.
	//
	// Create an EtcdRestore for it. If it may start empty, delete the EtcdCluster and create it again.
	ReasonRanBefore = "RanBefore"
)

// # Certificates
//
// In CertificatesValid of an EtcdCluster, and in Degraded while they are invalid or about to expire. CertificatesValid can also have
// WriteRefused and OperatorNotRoot.
const (
	// ReasonCertificatesInvalid means that certificates cannot be used as they are in the Secrets that spec.tls.static names, or that one
	// of those Secrets is missing. A running cluster goes on with those that it has.
	//
	// Correct what the message names: the Secret, the key in it, and what is wrong.
	ReasonCertificatesInvalid = "CertificatesInvalid"
	// ReasonIssuerUnavailable means that cert-manager has not issued the authority that spec.tls.managed.issuerRef asks for, or does not renew
	// it; the message has its words. Or somebody keeps changing a Certificate of the operator's. A running cluster goes on with what it has.
	//
	// Install cert-manager if it is missing; correct the issuer, or name another one: it has to sign authorities (CA:TRUE). Exempt the
	// Certificate from whatever changes it.
	ReasonIssuerUnavailable = "IssuerUnavailable"
	// ReasonCertificatesUsable means that all certificates can be used, and none is about to expire. Only CertificatesValid has it.
	//
	// Nothing.
	ReasonCertificatesUsable = "CertificatesUsable"
	// ReasonCertificatesExpiring means that a certificate expires within a tenth of its life, and 14 days at most, or has expired.
	//
	// With spec.tls.static: renew it in the Secret that this names; the message names the operator's copy. With spec.tls.managed: the
	// operator should have renewed it, see its log. With spec.tls.managed.issuerRef, if the message names a Certificate: cert-manager should
	// have renewed that; see whether it runs, and what it says of the Certificate.
	ReasonCertificatesExpiring = "CertificatesExpiring"
	// ReasonRotatingCertificates means that certificates or their authorities are being replaced; the message says what is waited for.
	//
	// Nothing.
	ReasonRotatingCertificates = "RotatingCertificates"
)

// # Authentication
//
// In Authenticated of an EtcdCluster, and in Degraded, Progressing and Ready while it is not as spec.auth asks.
const (
	// ReasonAuthenticationOn means that etcd's authentication is on. Only Authenticated has it.
	//
	// Nothing.
	ReasonAuthenticationOn = "AuthenticationOn"
	// ReasonAuthenticationOff means that etcd's authentication is off, as spec.auth asks. Only Authenticated has it.
	//
	// Nothing.
	ReasonAuthenticationOff = "AuthenticationOff"
	// ReasonAuthenticationUnknown means that etcd was not asked yet whether its authentication is on, because it has no quorum or the
	// operator has just started. Only Authenticated has it.
	//
	// Nothing.
	ReasonAuthenticationUnknown = "AuthenticationUnknown"
	// ReasonSwitchingAuthentication means that etcd's authentication is being switched on or off, or root's password is being changed.
	//
	// Nothing.
	ReasonSwitchingAuthentication = "SwitchingAuthentication"
	// ReasonOperatorNotRoot means that the operator would not be etcd's user root, or is not: the certificate in spec.tls.static.operatorSecret
	// has another common name, or etcd refuses the operator. Authentication is not switched on, or the former certificate stays in use.
	//
	// Issue a certificate with the common name root, and put it into that Secret.
	ReasonOperatorNotRoot = "OperatorNotRoot"
	// ReasonInvalidRootPassword means that the Secret in spec.auth.rootPasswordSecretRef is missing, or holds no password that etcd can
	// use: 1 to 72 bytes. The password stays as it is, and authentication is not switched on.
	//
	// Correct what the message names.
	ReasonInvalidRootPassword = "InvalidRootPassword"
	// ReasonAuthNeedsTLS means that spec.auth.enabled is true and clients do not use TLS, or need not to, or that the spec asks for clients
	// without TLS while authentication is on.
	//
	// Do what the message says. A running cluster can be given TLS for clients together with authentication: that is switched on once
	// clients are served with TLS only. TLS for clients can be given up once authentication is off.
	ReasonAuthNeedsTLS = "AuthNeedsTLS"
)

// # EtcdClusters with objects of others
//
// In Degraded and Ready of an EtcdCluster.
const (
	// ReasonStrangerPod means that a pod has the cluster's labels but is not owned by the cluster. The pod is ignored, and the
	// cluster is reconciled all the same.
	//
	// Delete it, or remove the labels from it.
	ReasonStrangerPod = "StrangerPod"
	// ReasonForeignVolume means that a PersistentVolumeClaim has the cluster's labels but is not provably the cluster's, such as
	// a copy. It is neither used nor deleted, and blocks the cluster only if a member needs its name.
	//
	// Check what is on it; then delete it, or have the cluster use it as the message says.
	ReasonForeignVolume = "ForeignVolume"
)
