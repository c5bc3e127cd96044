package status

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
)

func setBackupConditions(s *v1beta2.EtcdBackupStatus, in BackupInput) {
	set := func(kind string, value metav1.ConditionStatus, generation int64, reason, message string) {
		setCondition(&s.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(in.Observed.Now),
		})
	}
	generation := in.Backup.Generation
	if problem := in.Observed.Problem; problem != nil && !in.Observed.Done {
		set(v1beta2.ConditionAccepted, metav1.ConditionFalse, generation, problem.Reason, problem.Message)
	} else {
		set(v1beta2.ConditionAccepted, metav1.ConditionTrue, generation, v1beta2.ReasonAccepted, "the spec is valid")
	}
	if reason, message := backupWords(s, in); reason != "" {
		value := metav1.ConditionTrue
		switch in.Action.(type) {
		case backup.Idle, backup.Blocked:
			value = metav1.ConditionFalse
		default:
		}
		set(v1beta2.ConditionProgressing, value, generation, reason, message)
	}
	if value, reason, message := backedUp(s, in); reason != "" {
		if run := in.Backup.Status.Run; run != nil {
			generation = run.Generation // the result is about the spec that the attempt started with
		}
		set(v1beta2.ConditionBackedUp, value, generation, reason, message)
	}
	if in.Interval == 0 {
		meta.RemoveStatusCondition(&s.Conditions, v1beta2.ConditionUpToDate)
		return
	}
	value, reason, message := upToDate(s, in)
	set(v1beta2.ConditionUpToDate, value, in.Backup.Generation, reason, message)
}

// upToDate says whether the last good backup is young enough. It names times, not ages, so that it changes with the backups alone.
func upToDate(s *v1beta2.EtcdBackupStatus, in BackupInput) (value metav1.ConditionStatus, reason, message string) {
	since, what := in.Observed.Created, "no good backup was taken since the EtcdBackup was created at "
	if s.LastSuccessDate != nil {
		since, what = s.LastSuccessDate.Time, "the last good backup was taken at "
	}
	what += since.UTC().Format(time.RFC3339)
	switch {
	case backup.Lapsed(since, in.Interval, in.Observed.Now):
		return metav1.ConditionFalse, v1beta2.ReasonBackupOverdue, fmt.Sprintf("%s, more than twice the %s between two backups ago", what, in.Interval)
	case s.LastSuccessDate == nil:
		return metav1.ConditionUnknown, v1beta2.ReasonNoBackupYet, what
	}
	return metav1.ConditionTrue, v1beta2.ReasonBackedUp, what
}

// backupWords are reason and message of Progressing. They are empty for a step without duration.
func backupWords(s *v1beta2.EtcdBackupStatus, in BackupInput) (reason, message string) {
	if in.Err != nil {
		return v1beta2.ReasonActionFailed, in.Err.Error()
	}
	switch a := in.Action.(type) {
	case backup.Idle:
		return a.Reason, a.Message
	case backup.Blocked:
		return a.Reason, a.Message + wayOut(in)
	case backup.Wait:
		return a.Reason, waiting(s, a, in)
	case backup.Start:
		return v1beta2.ReasonWaitingForPods, "creating pod " + s.Run.Pod
	case backup.Retry:
		return v1beta2.ReasonWaitingForRetry, retrying(s, in)
	default:
		return "", ""
	}
}

func waiting(s *v1beta2.EtcdBackupStatus, a backup.Wait, in BackupInput) string {
	switch {
	case a.Reason == v1beta2.ReasonWaitingForRetry && s.Run != nil:
		return retrying(s, in)
	case s.Run == nil || s.Run.Bytes == 0 || a.Reason != v1beta2.ReasonBackingUp:
		return a.Message
	}
	return fmt.Sprintf("%s, %s so far", s.Run.Step, Bytes(s.Run.Bytes))
}

func retrying(s *v1beta2.EtcdBackupStatus, in BackupInput) string {
	return fmt.Sprintf("attempt %d failed; the next one starts at %s. %s%s", s.Run.Attempt,
		s.Run.RetryTime.UTC().Format(time.RFC3339), s.Reason, wayOut(in))
}

// wayOut says how to delete an EtcdBackup without deleting its backups.
func wayOut(in BackupInput) string {
	if !in.Observed.Deleting {
		return ""
	}
	return " (to delete the EtcdBackup and keep its backups in the storage, set spec.deletionPolicy to Retain)"
}

// backedUp is the result of the last attempt. The reason is empty if it has not changed.
func backedUp(s *v1beta2.EtcdBackupStatus, in BackupInput) (value metav1.ConditionStatus, reason, message string) {
	run := in.Observed.Run
	switch a := in.Action.(type) {
	case backup.Finish:
		return metav1.ConditionTrue, v1beta2.ReasonBackedUp, taken(s)
	case backup.Retry:
		if run.Task == backup.TaskBackup {
			return metav1.ConditionFalse, a.Failure.Reason, fmt.Sprintf("attempt %d: %s", run.Attempt, a.Failure.Message)
		}
	case backup.GiveUp:
		return metav1.ConditionFalse, a.Failure.Reason, fmt.Sprintf("giving up after attempt %d: %s", run.Attempt, a.Failure.Message)
	default:
	}
	if wait, waits := in.Action.(backup.Wait); waits && Late(in.Observed, wait) {
		return metav1.ConditionFalse, wait.Reason, "the scheduled backup was not taken: " + wait.Message
	}
	if meta.FindStatusCondition(s.Conditions, v1beta2.ConditionBackedUp) == nil {
		return metav1.ConditionUnknown, v1beta2.ReasonNoBackupYet, "no attempt to take a backup has finished yet"
	}
	return "", "", ""
}

// Late reports whether backups are missed because of a wait, so that the success of the last one does not mean much.
func Late(o backup.Observed, wait backup.Wait) bool {
	return wait.Reason == v1beta2.ReasonWaitingForStorage && o.Run == nil && o.Overdue()
}

func taken(s *v1beta2.EtcdBackupStatus) string {
	if len(s.Snapshots) == 0 {
		return "the backup was taken"
	}
	latest := s.Snapshots[max(slices.IndexFunc(s.Snapshots, func(one v1beta2.SnapshotStatus) bool {
		return s.LastSuccessDate.Equal(&one.CreationTime)
	}), 0)]
	return fmt.Sprintf("%s has revision %d of etcd %s, %s", latest.Name, latest.Revision, latest.EtcdVersion, Bytes(latest.SizeBytes))
}

// Bytes is a size in human-readable form.
func Bytes(n int64) string {
	const enough = 10
	unit := int64(1)
	for n/unit >= enough<<10 {
		unit <<= 10
	}
	return resource.NewQuantity(n/unit*unit, resource.BinarySI).String()
}
