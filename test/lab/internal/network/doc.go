// Package network lays out the lab's network: a bridge that the host and all nodes hang on, one network namespace
// for each node, one pod range for each node, and a fence around them, so that nothing meant for the cluster leaves
// the machine.
package network
