// Package task is the contract between the operator and the short-lived pods that move backups for it: what a pod is asked to
// do, where it finds what it needs for that, how far it says it is, and how it says it ended. Whatever of it is written as JSON
// stays readable: pods outlive an upgrade of the operator that made them.
package task
