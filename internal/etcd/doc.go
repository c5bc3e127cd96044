// Package etcd talks to the members of a cluster. It is the only place that knows etcd's client and its error codes.
//
// An etcd that does not answer is an observation, not an error.
package etcd
