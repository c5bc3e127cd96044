package backup

import "time"

// Observed is all that a decision depends on.
type Observed struct {
	Now time.Time
	// Created is when the EtcdBackup was, and Deleting that it is being deleted.
	Created  time.Time
	Deleting bool
	// Problem is what keeps the spec from being carried out, nil if nothing does.
	Problem *Problem
	// Suspended keeps new runs from being started.
	Suspended bool
	// Schedule is when runs are due, nil for one only.
	Schedule Schedule
	// Timeout is how long one try may take.
	Timeout time.Duration
	// Clean is true if the objects are to be deleted with the EtcdBackup.
	Clean bool
	// LastDue is the time that the last run was due at, zero if there was none. Done is true if it was carried out, or given
	// up, as the spec is now.
	LastDue time.Time
	Done    bool
	// Run is the run under way, nil if none is.
	Run *Run
	// Pod is the pod of the run's try, nil if there is none.
	Pod *Pod
	// Strays are the other pods of this EtcdBackup, of tries that are over.
	Strays []Pod
	// Ahead names another EtcdBackup that is at work on the same storage, empty if none is.
	Ahead string
}

// Problem is a reason (CamelCase, documented in the API package) and a message that says what to do.
type Problem struct{ Reason, Message string }

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
	// Attempt counts the tries, from 1. Started is when this one began.
	Attempt int
	Started time.Time
	// RetryAfter is when the next try may begin, zero unless this one has failed.
	RetryAfter time.Time
}

// Pod is a pod that does the work.
type Pod struct {
	Name, UID string
	Deleting  bool
	// Ended is true once its container ended for good, or the pod can never run.
	Ended bool
	// Result is what it left, nil if it left nothing that can be read.
	Result *Result
	// Problem says why the pod does not run, empty if nothing is known.
	Problem string
}

// Result is the end of a try as far as a decision depends on it.
type Result struct {
	// Failure is nil if the try succeeded.
	Failure *Problem
	// Hopeless is true if another try cannot go better before somebody changes something.
	Hopeless bool
}
