// Command transport measures what TLS costs a cluster and its clients: three real etcds on the loopback interface, once in plain text and
// once with certificates as the operator issues them and the configuration that member-run writes, side by side and in turns.
//
// Members and clients share the machine's processors, and the clients connect to all members in turn, as with the client Service. The
// processor time of the members is counted by the kernel, and hardly depends on what else the machine does, as opposed to the times.
package main
