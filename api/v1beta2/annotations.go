package v1beta2

// AnnotationRotate on an EtcdCluster with tls.managed has the operator renew certificates, once for each value: leaves:WORD those of
// members and clients, ca:WORD the authorities, and with them all others. WORD is any word that was not used before, such as a date.
const AnnotationRotate = "etcd.database.coreos.com/rotate"

// AnnotationLogObserved on an EtcdCluster has the operator log, in one line, what it observes of the cluster and what it decides
// from that: once for each value, including an empty one.
const AnnotationLogObserved = "etcd.database.coreos.com/log-observed"
