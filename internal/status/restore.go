package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// RestoreInput is what an EtcdRestore's status is computed from.
type RestoreInput struct {
	// Restore is the object as it was read; its own status is the previous one.
	Restore  *v1beta2.EtcdRestore
	Observed restore.Observed
	Action   restore.Action
	// Cluster is the one whose data is replaced, nil if there is none.
	Cluster *v1beta2.EtcdCluster
	// Source is where the snapshot is, nil if that is not known.
	Source *v1beta2.RestoredFrom
	// Result is what the run's pod has left, nil if nothing.
	Result *task.Result
	// Member is the run of the member that is restoring its data from the snapshot, nil if there is none.
	Member *v1beta2.AgentRun
	// Progress is the progress that the pod or member has reported, nil if nothing new.
	Progress *task.Progress
	// Err is why the action failed.
	Err error
}

// Restore returns the EtcdRestore's new status. It includes the operator's own state (phase, run, source): an action that changes
// that takes effect when the status is written.
func Restore(in RestoreInput) v1beta2.EtcdRestoreStatus {
	s := in.Restore.Status.DeepCopy()
	if in.Err == nil {
		recordRestore(s, in)
	}
	setRestoreConditions(s, in)
	return *s
}

// recordRestore records the action's effects.
func recordRestore(s *v1beta2.EtcdRestoreStatus, in RestoreInput) {
	now := metav1.NewTime(in.Observed.Now)
	switch a := in.Action.(type) {
	case restore.Idle, restore.Blocked, restore.CreatePod, restore.DeletePod,
		restore.AddFinalizer, restore.RemoveFinalizer:
	case restore.Wait:
		followRestore(s, in)
	case restore.Enter:
		s.Phase = a.Phase
		pin(s, in.Cluster)
	case restore.Pin:
		pin(s, in.Cluster)
	case restore.Start:
		s.Source = in.Source
		s.Run = &v1beta2.AgentRun{
			Attempt:          int32(a.Run.Attempt), //nolint:gosec // counts a few tries from 1
			AttemptStartTime: now, Pod: restore.PodName(in.Restore, a.Run.Attempt),
			Unanswered: int32(a.Run.Unanswered), //nolint:gosec // no more than tries
		}
	case restore.ResetTimer:
		s.Run.AttemptStartTime = now
	case restore.Retry:
		s.Run.RetryTime, s.Run.Step, s.Run.Bytes = new(metav1.NewTime(a.After)), "", 0
		s.Run.Unanswered = int32(a.Unanswered) //nolint:gosec // no more than tries
	case restore.Finish:
		keepResult(s, in, &now)
	case restore.Replace:
		s.Phase, s.Run, s.ClusterID = v1beta2.RestoreReplacing, nil, in.Cluster.Status.ClusterID
		if a.Keep {
			s.Unsaved = a.Unsaved
		}
	case restore.SaveAgain:
		s.Phase, s.SafetySnapshot, s.ClusterID, s.Unsaved = v1beta2.RestoreSaving, nil, "", ""
		s.SaveTime = nil
	case restore.Succeed:
		s.Phase, s.Run, s.CompletionTime, s.Succeeded = v1beta2.RestoreSucceeded, nil, &now, true
	case restore.Fail:
		s.Phase, s.Run, s.CompletionTime = v1beta2.RestoreFailed, nil, &now
	}
}

// pin records the UID of the EtcdCluster, once it exists.
func pin(s *v1beta2.EtcdRestoreStatus, c *v1beta2.EtcdCluster) {
	if c != nil && s.ClusterUID == "" {
		s.ClusterUID = string(c.UID)
	}
}

// keepResult records the snapshot that the pod has verified or taken.
func keepResult(s *v1beta2.EtcdRestoreStatus, in RestoreInput, now *metav1.Time) {
	s.Run = nil
	result, survivor := in.Result, in.Observed.OfMember && !in.Observed.Saved
	if s.Phase == v1beta2.RestoreSaving || survivor {
		s.SafetySnapshot, s.SaveTime = result.Snapshot, now
	}
	switch {
	case survivor: // it is verified next
		s.Source.Object = result.Snapshot.Name
	case s.Phase == v1beta2.RestoreVerifying:
		s.Snapshot = result.Snapshot
		s.Source.Object, s.Source.SHA256, s.Source.DataVersion = s.Snapshot.Name, s.Snapshot.SHA256, result.DataVersion
		s.Source.Database = result.Database
	}
}

// followRestore records the progress of the EtcdRestore's own pod, and later of the first member.
func followRestore(s *v1beta2.EtcdRestoreStatus, in RestoreInput) {
	if in.Observed.Phase == v1beta2.RestoreReplacing {
		s.Run = memberAgentRun(in.Member, s.Run)
	}
	if s.Run != nil && in.Progress != nil {
		s.Run.Step, s.Run.Bytes = string(in.Progress.Step), in.Progress.Bytes
	}
}

// memberAgentRun is the run of the member's container, with its last progress if it is the recorded one; nil if it has ended.
func memberAgentRun(member, noted *v1beta2.AgentRun) *v1beta2.AgentRun {
	if member == nil {
		return nil
	}
	run := *member
	if noted != nil && noted.Pod == run.Pod && noted.Attempt == run.Attempt {
		run.Step, run.Bytes = noted.Step, noted.Bytes
	}
	return &run
}

func setRestoreConditions(s *v1beta2.EtcdRestoreStatus, in RestoreInput) {
	d, generation := restore.Describe(in.Action), in.Restore.Generation
	if in.Err != nil {
		d.Reason, d.Message = v1beta2.ReasonActionFailed, in.Err.Error()
	}
	set := func(kind string, holds bool, reason, message string) {
		value := metav1.ConditionFalse
		if holds {
			value = metav1.ConditionTrue
		}
		setCondition(&s.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(in.Observed.Now),
		})
	}
	s.ObservedGeneration = generation
	if in.Observed.AnsweredBefore {
		set(v1beta2.ConditionAccepted, false, d.Reason, d.Message)
		return
	}
	set(v1beta2.ConditionAccepted, true, v1beta2.ReasonAccepted, "the EtcdRestore is valid; it is carried out once")
	if _, over := in.Action.(restore.Idle); over || in.Restore.Status.CompletionTime != nil {
		return // the last conditions stay
	}
	_, blocked := in.Action.(restore.Blocked)
	set(v1beta2.ConditionProgressing, s.CompletionTime == nil && !blocked, d.Reason, d.Message)
	set(v1beta2.ConditionRestored, s.Succeeded, d.Reason, d.Message)
	if s.Reason = legacyReason(in, d, s.Reason); in.Err != nil {
		s.Reason = d.Message
	}
}

// legacyReason is for clients of coreos/etcd-operator: why the restore failed, or what it waits for. The failure of an attempt
// stays until the next one.
func legacyReason(in RestoreInput, d restore.Description, last string) string {
	switch in.Action.(type) {
	case restore.Succeed:
		return ""
	case restore.Fail, restore.Retry, restore.Blocked:
		return d.Message
	case restore.Wait:
		if in.Observed.Run != nil && !in.Observed.Run.RetryAfter.IsZero() {
			return last
		}
		switch d.Reason {
		case v1beta2.ReasonVerifying, v1beta2.ReasonSaving, v1beta2.ReasonRestoring:
			return ""
		}
		return d.Message
	default:
		return last
	}
}
