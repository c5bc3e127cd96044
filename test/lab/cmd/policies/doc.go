// Command policies enforces the cluster's NetworkPolicies on a node. The lab starts it in the node's network namespace. It is no part of
// the command lab, which would become much larger by what it is made of.
package main
