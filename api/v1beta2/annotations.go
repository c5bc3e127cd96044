package v1beta2

// AnnotationLogObserved on an EtcdCluster has the operator log, in one line, what it observes of the cluster and what it decides
// from that: once for each value, including an empty one.
const AnnotationLogObserved = "etcd.database.coreos.com/log-observed"
