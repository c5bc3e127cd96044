// Package enforce enforces the cluster's NetworkPolicies, which the lab's network itself does not. The kernel hands the first packet of
// every connection that a node forwards to or from its pods to a process in the node's network namespace. It asks the matcher of cyclonus,
// a tool that tests networks by what NetworkPolicies mean, and lets the packet go on or drops it. As everywhere, connections that are
// there already are left alone, and so is what comes from a node to its own pods.
package enforce
