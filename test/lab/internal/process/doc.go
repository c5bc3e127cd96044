// Package process starts the lab's long-lived processes and signals exactly those: a process is known by its id
// together with the time at which it started, so an id that the kernel has given to someone else is left alone.
package process
