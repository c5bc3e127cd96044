package v1beta2

// AnnotationRotate on an EtcdCluster with tls.managed has the operator renew certificates, once for each value: leaves:WORD those of
// members and clients, ca:WORD the authorities, and with them all others. WORD is any word that was not used before, such as a date.
const AnnotationRotate = "etcd.database.coreos.com/rotate"

// AnnotationRecover on an EtcdCluster that has lost its quorum confirms the plan with that hash (status.recovery.plan.hash): what the
// survivor holds becomes the cluster's data, and what only others have is lost. Any other value confirms nothing.
const AnnotationRecover = "etcd.database.coreos.com/recover"

// AnnotationLogObserved on an EtcdCluster has the operator log, in one line, what it observes of the cluster and what it decides
// from that: once for each value, including an empty one.
const AnnotationLogObserved = "etcd.database.coreos.com/log-observed"
