// Package controlplane runs the lab's etcd, kube-apiserver, kube-controller-manager and kube-scheduler as plain
// processes of the host.
package controlplane
