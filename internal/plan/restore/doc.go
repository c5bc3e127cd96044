// Package restore decides what an EtcdRestore needs next. Like its parent it is pure: what was observed goes in, one action
// comes out, and whoever carries it out looks again.
//
// A restore reads and checks the snapshot (Verifying), saves what the cluster holds (Saving), and then leaves the cluster
// to the EtcdCluster's own controller (Replacing), which starts it again from the snapshot. Before Replacing nothing is
// done to the cluster. Each phase, and each try of a pod, is written to status before anything that depends on it.
package restore
