// Package record has etcd's own robustness traffic at work on a cluster whose members come and go, and has etcd's own validators
// judge what it saw: linearizability, watches and reads of the past.
package record
