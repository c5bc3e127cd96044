// Package link makes the link of a node slow and lossy. The kernel hands each packet that the node sends or receives
// over its cable to a process in the node's network namespace, which holds it for a while and lets it go on, or drops
// it. It does what the netem queueing discipline does, on kernels that are built without it.
package link
