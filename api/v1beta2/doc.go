// Package v1beta2 is the API of etcd-operator: EtcdCluster, EtcdBackup, EtcdRestore, EtcdUser and EtcdRole. It is a superset of
// coreos/etcd-operator's API of the same name, so manifests written for that are accepted. What is not supported, such as an
// etcd before 3.5, is reported in a condition.
//
// +kubebuilder:object:generate=true
// +groupName=etcd.database.coreos.com
package v1beta2
