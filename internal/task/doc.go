// Package task is the contract between the operator and the short-lived pods that move backups for it: the task of a pod, where it
// finds its inputs, its progress, and its result. The JSON must stay compatible: pods outlive an upgrade of the operator that
// created them.
package task
