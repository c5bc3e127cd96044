// Package etcdtest is what etcd's membership means, as a plain value: it can be copied, compared and put into a map.
//
// It knows members, data directories, who runs, who leads, and what etcd answers to the calls that change membership.
// It does not know time: connections are as old as etcd wants them (its health interval of five seconds has passed) and
// a follower that can reach a leader is in sync with it. A conformance test holds it to a real etcd.
//
// Beside etcd's answers it keeps the one record that etcd cannot: Harm, the first step that broke what raft builds on,
// such as a member that came back without its memory.
package etcdtest
