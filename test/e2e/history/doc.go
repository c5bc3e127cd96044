// Package history holds what clients of an etcd cluster did to a few registers, and judges whether one copy of the data
// could have answered like that: whether the history is linearizable.
package history
