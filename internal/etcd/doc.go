// Package etcd is the operator's conversation with the members of a cluster.
//
// An etcd that does not answer is an observation, not an error. A change that etcd refuses for the moment is ErrNotYet,
// and one that has happened already is a success: whoever asks again after a lost answer, gets the same result.
package etcd
