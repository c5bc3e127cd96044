// Package node runs the lab's nodes: in each one's network namespace one containerd, one kubelet and one kube-proxy.
package node
