// Package etcd talks to the members of a cluster. It is the only place that knows etcd's client and its error codes.
//
// An etcd that does not answer is an observation, not an error. A change that etcd refuses for the moment is ErrNotYet,
// and one that has happened already is a success: whoever asks again after a lost answer, gets the same result.
package etcd
