package backup

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Action is what to do next. The set is closed.
//
//sumtype:decl
type Action interface{ action() }

// Idle means that nothing is due before Next, which is zero if nothing ever is.
type Idle struct {
	Reason, Message string
	Next            time.Time
}

// Wait means that something is under way, and to look again after that time.
type Wait struct {
	Reason, Message string
	After           time.Duration
}

// Blocked means that the operator cannot continue until someone intervenes; the message says how.
type Blocked failure.Problem

// AddFinalizer has a finalizer keep the EtcdBackup until its objects are deleted.
type AddFinalizer struct{}

// RemoveFinalizer removes that finalizer.
type RemoveFinalizer struct{}

// Start writes a run, or the next try of it, to status.
type Start struct{ Run Run }

// CreatePod makes the pod of the run's try.
type CreatePod struct{}

// ResetTimer restarts the timer of the current attempt, because the clock was set back.
type ResetTimer struct{}

// DeletePod deletes a pod whose try is over.
type DeletePod struct{ Name, UID string }

// Finish writes the result of a run that has succeeded to status, and ends it.
type Finish struct{}

// Retry writes to status that a try has failed and when the next one may begin.
type Retry struct {
	Failure failure.Problem
	After   time.Time
}

// GiveUp writes to status that a run has failed, and ends it.
type GiveUp struct{ Failure failure.Problem }

// CancelRun cancels a run whose pod can no longer be created. The backup stays due.
type CancelRun struct{ Why failure.Problem }

func (Idle) action()            {}
func (Wait) action()            {}
func (Blocked) action()         {}
func (AddFinalizer) action()    {}
func (RemoveFinalizer) action() {}
func (Start) action()           {}
func (CreatePod) action()       {}
func (ResetTimer) action()      {}
func (DeletePod) action()       {}
func (Finish) action()          {}
func (Retry) action()           {}
func (GiveUp) action()          {}
func (CancelRun) action()       {}

// Mutates reports whether the action changes anything: such an action is decided a second time, on live reads.
func Mutates(a Action) bool {
	switch a.(type) {
	case Idle, Wait, Blocked:
		return false
	default:
		return true
	}
}
