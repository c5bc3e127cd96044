package backup

import "time"

// Observed is all that a decision depends on.
type Observed struct {
	Now time.Time
	// Created is when the EtcdBackup was, and Deleting that it is being deleted.
	Created  time.Time
	Deleting bool
	// Problem is what keeps the spec from being carried out, nil if nothing does. Of an EtcdBackup that is being deleted it
	// is what keeps its objects from being deleted.
	Problem *Problem
	// Suspended keeps new runs from being started.
	Suspended bool
	// Schedule is when runs are due, nil for one only.
	Schedule Schedule
	// Timeout is how long one try may take.
	Timeout time.Duration
	// Clean is true if the objects are to be deleted with the EtcdBackup, Guarded if a finalizer keeps it until they are, and
	// Written if there may be any.
	Clean, Guarded, Written bool
	// LastDue is the time that the last run was due at, zero if there was none. Done is true if only one is asked for and it
	// was carried out, or given up as the spec is now.
	LastDue time.Time
	Done    bool
	// Run is the run under way, nil if none is.
	Run *Run
	// Pod is the pod of the run's try, nil if there is none.
	Pod *Pod
	// Strays are the other pods of this EtcdBackup, of tries that are over.
	Strays []Pod
	// Ahead names another EtcdBackup that is at work on the same storage, empty if none is. It matters only to one that
	// would start.
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
	// Made is true once its pod was there.
	Made bool
	// RetryAfter is when the next try may begin, zero unless this one has failed.
	RetryAfter time.Time
}

// Pod is a pod that does the work.
type Pod struct {
	Name, UID string
	Created   time.Time
	// Deleting is true while Kubernetes ends it, and Deadline is when that should be over.
	Deleting bool
	Deadline time.Time
	// Running is true once its container has started, Ended once it has ended for good, or can never run.
	Running, Ended bool
	// Result is what it left, nil if it left nothing that can be read.
	Result *Result
	// Problem says why the pod does not run, empty if nothing is known.
	Problem string
}

// leaving tells whether the pod is on its way out, unless its node has been silent for too long: then it is waited for no
// more. If it should still run it harms nobody, for no two tries write the same object.
func (p Pod) leaving(now time.Time) bool { return p.Deleting && now.Before(p.Deadline.Add(silence)) }

// failed tells whether the pod's log may say why a try failed.
func (p Pod) failed() bool {
	if p.Result != nil {
		return p.Result.Failure != nil
	}
	return p.Ended
}

// Result is the end of a try as far as a decision depends on it.
type Result struct {
	// Failure is nil if the try succeeded.
	Failure *Problem
	// Hopeless is true if another try cannot go better before somebody changes something.
	Hopeless bool
}
