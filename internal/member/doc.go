// Package member is the contract between the operator and member-run, the small program that guards every start of
// etcd in a member's pod: paths, permits, refusals, and how etcd's configuration file is written.
package member
