package v1beta2

// AnnotationLogObserved on an EtcdCluster has the operator write to its log, in one line, what it observes of the cluster and what
// it decides on that: once for each value. An empty value is one, too.
const AnnotationLogObserved = "etcd.database.coreos.com/log-observed"
