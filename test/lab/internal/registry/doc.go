// Package registry is the one image registry of a lab. It runs as a process of its own, because the lab outlives the
// command that starts it.
package registry
