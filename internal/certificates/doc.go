// Package certificates decides which certificates the members, the clients and the operator are to have, and which authorities a new
// pod is to trust. It is pure: it sees what Observed holds, and says what is to be written.
//
// The terms:
//
//   - A side is the peers' or the clients' connections. Each has authorities of its own, and turns alone.
//   - The source is where certificates come from: the Secrets of the user (mode static), or the cluster's own authorities (mode
//     managed), which are kept in a Secret that no pod mounts.
//   - A leaf is a certificate that is no authority. Members never mount the source: the operator checks its leaves and publishes
//     copies in a Secret for each member. etcd reads leaves anew at each handshake, so they change without a restart.
//   - Trust is the set of authorities that a process accepts. etcd reads it once, so another trust needs another pod: it is in
//     immutable Secrets, which pods name, and the update of members carries it.
//   - A process counts if it may run with the trust of its pod's Secret, and can still verify anybody: not all of its authorities
//     have expired.
//
// One rule keeps everybody connected while the source changes. For all members a, b whose processes count, b's trusts an authority
// that has issued a's leaf, the published one and the one that it still serves. Therefore:
//
//   - A leaf is published only if every process that counts trusts it. Until then a member keeps the one that it has, and a new
//     member gets one that all trust: signed by the former authority, or a copy of another member's.
//   - A new process trusts the source's authorities, and with them all that any process trusts until every member is known to serve
//     a leaf that the source's authorities verify. Then it trusts those only.
//
// The operator and those that it gives certificates to are processes, too, where they accept members. Status records whom they are to trust
// before any of them gets it, so that it is known when their Secrets are deleted.
//
// The decision for a side (next.go) knows only which authorities verify which leaf, by fingerprint. A test explores it exhaustively,
// with sources that change at any time. The rest of the package turns Secrets into that, and back.
package certificates
