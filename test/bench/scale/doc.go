// Command scale measures what the operator costs for many clusters. It starts an API server, plays kubelet, disruption
// controller and etcd itself, and runs the operator's real program against that: the control loop's own price, without
// the nodes that thousands of real etcds would need.
//
// Every simulated member has an address of its own on the loopback interface and answers there on etcd's client port,
// over gRPC, from the semantic fake in internal/etcd/etcdtest. Its metrics are those of a real etcd, which runs at first.
// It starts the moment it is permitted to. Members can be frozen: then the kernel accepts connections and no one answers,
// as with a process stopped by SIGSTOP.
package main
