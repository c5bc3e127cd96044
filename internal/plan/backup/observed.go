package backup

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// Observed is all that a decision depends on.
type Observed struct {
	Now time.Time
	// Created is when the EtcdBackup was, and Deleting that it is being deleted.
	Created  time.Time
	Deleting bool
	// Problem is what keeps the spec from being carried out, nil if nothing does. Of an EtcdBackup that is being deleted it
	// is what keeps its objects from being deleted.
	Problem *failure.Problem
	// Suspended keeps new runs from being started.
	Suspended bool
	// Asleep says that the members of the cluster are stopped on purpose, empty if they are not.
	Asleep string
	// Schedule is when runs are due, nil for one only.
	Schedule Schedule
	// Timeout is how long one try may take.
	Timeout time.Duration
	// Clean is true if the objects are to be deleted with the EtcdBackup, HasFinalizer if a finalizer keeps it until they are, and
	// Written if there may be any.
	Clean, HasFinalizer, Written bool
	// LastDue is the time that the last run was due at, zero if there was none. Done is true if only one is asked for and it
	// was carried out, or given up as the spec is now.
	LastDue time.Time
	Done    bool
	// Run is the run under way, nil if none is.
	Run *Run
	// Pod is the pod of the run's try, nil if there is none.
	Pod *retry.Pod
	// OrphanedPods are the other pods of this EtcdBackup, of tries that are over.
	OrphanedPods []retry.Pod
	// Ahead names another EtcdBackup of the namespace that may be writing the same object, empty if none is. It matters only to
	// one that would start.
	Ahead string
}

// Task is what a run does.
type Task string

// Tasks. TaskClean deletes the objects of an EtcdBackup that is being deleted.
const (
	TaskBackup Task = "Backup"
	TaskClean  Task = "Clean"
)

// Run is a task that is under way.
type Run struct {
	Task Task
	// Due names the run.
	Due time.Time
	// Attempt counts the tries, from 1. Began is when the first one did, zero if that is not known, and Started when this one
	// did.
	Attempt        int
	Began, Started time.Time
	// Made is true once its pod was there.
	Made bool
	// RetryAfter is when the next try may begin, zero unless this one has failed.
	RetryAfter time.Time
}
