package restore

import (
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Action is what to do next. The set is closed.
//
//sumtype:decl
type Action interface{ action() }

// Idle means that the restore is over.
type Idle struct{ Reason, Message string }

// Wait means that something is under way, and to look again after that time, or sooner if anything is heard.
type Wait struct {
	Reason, Message string
	After           time.Duration
}

// Blocked means that the operator cannot continue until someone intervenes; the message says how.
type Blocked failure.Problem

// Enter writes a phase to status. Of two EtcdRestores of a cluster that are past Verifying the later one goes on. Of is as in
// Observed.
type Enter struct {
	Phase v1beta2.RestorePhase
	Of    string
}

// Start writes the next try of the phase's task to status.
type Start struct{ Run Run }

// CreatePod makes the pod of the try.
type CreatePod struct{}

// ResetTimer restarts the timer of the current attempt, because the clock was set back.
type ResetTimer struct{}

// DeletePod deletes a pod whose try is over.
type DeletePod struct{ Name, UID string }

// Finish writes the result of a try that has succeeded to status, and ends the run.
type Finish struct{}

// Retry writes to status that a try has failed and when the next one may begin. Unanswered is as in Run.
type Retry struct {
	Failure    failure.Problem
	After      time.Time
	Unanswered int
}

// AddFinalizer keeps Kubernetes from deleting the EtcdRestore.
type AddFinalizer struct{}

// RemoveFinalizer lets Kubernetes delete the EtcdRestore.
type RemoveFinalizer struct{}

// Pin writes to status which EtcdCluster it is: another one of that name is left alone.
type Pin struct{}

// Replace enters Replacing: from here on the EtcdCluster's controller acts. Unsaved says why the cluster's data was not
// saved, empty if it was or if there is none; Keep is true if it was to be, and status tells it. Of is as in Observed.
type Replace struct {
	Unsaved, Of string
	Keep        bool
}

// SaveAgain goes back to Saving: before anything was replaced the cluster came to hold something else, or was paused, so that
// its clients go on, or what was saved has grown old.
type SaveAgain struct{}

// Succeed writes to status that the cluster runs on the restored data. Of and Alarms are as
// in Observed, Kept and Unsaved as in Record.
type Succeed struct {
	Of, Alarms string
	Kept       []string
	Unsaved    bool
}

// Fail writes to status that the restore has failed.
type Fail failure.Problem

func (Idle) action()            {}
func (Wait) action()            {}
func (Blocked) action()         {}
func (Enter) action()           {}
func (Start) action()           {}
func (CreatePod) action()       {}
func (ResetTimer) action()      {}
func (DeletePod) action()       {}
func (Finish) action()          {}
func (Retry) action()           {}
func (AddFinalizer) action()    {}
func (RemoveFinalizer) action() {}
func (Pin) action()             {}
func (Replace) action()         {}
func (SaveAgain) action()       {}
func (Succeed) action()         {}
func (Fail) action()            {}

// Mutates is true of an action that changes anything but conditions.
func Mutates(a Action) bool {
	switch a.(type) {
	case Idle, Wait, Blocked:
		return false
	default:
		return true
	}
}
