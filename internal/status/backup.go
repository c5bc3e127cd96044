package status

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// maxSnapshots is how many are listed.
const maxSnapshots = 10

// starting is the step of a run whose pod was created and has reported no step. It distinguishes a pod that is gone from one that
// is still to be created.
const starting = "Starting"

// BackupInput is what an EtcdBackup's status is computed from.
type BackupInput struct {
	Backup   *v1beta2.EtcdBackup
	Observed backup.Observed
	Action   backup.Action
	// Result is what the run's pod has left, and Progress how far it is, nil if nothing is known.
	Result   *task.Result
	Progress *task.Progress
	// Interval is the time between two backups that are to be taken, 0 if no more are: of a single one, and while they are suspended.
	Interval time.Duration
	// Err is why the action failed.
	Err error
}

// Backup returns the EtcdBackup's new status. It includes the operator's own state (run, lastScheduleTime): an action that changes
// that takes effect when the status is written.
func Backup(in BackupInput) v1beta2.EtcdBackupStatus {
	s := in.Backup.Status.DeepCopy()
	s.ObservedGeneration = in.Backup.Generation
	if in.Err == nil {
		recordRun(s, in)
	}
	s.NextScheduleTime = nil
	due, next := in.Observed.Due()
	switch {
	case in.Observed.Suspended || in.Observed.Deleting || in.Observed.Problem != nil:
	case s.Run == nil && in.Observed.Run == nil && !due.IsZero():
		s.NextScheduleTime = new(metav1.NewTime(due))
	case !next.IsZero():
		s.NextScheduleTime = new(metav1.NewTime(next))
	}
	setBackupConditions(s, in)
	s.LegacyReason = s.Reason
	return *s
}

// recordRun records the action's effect on the run.
func recordRun(s *v1beta2.EtcdBackupStatus, in BackupInput) {
	switch a := in.Action.(type) {
	case backup.Idle, backup.Blocked, backup.AddFinalizer, backup.RemoveFinalizer, backup.DeletePod:
	case backup.Start:
		s.Run = runOf(in.Backup, a.Run)
	case backup.CreatePod:
		s.Run.Step = starting
	case backup.ResetTimer:
		s.Run.AttemptStartTime = metav1.NewTime(in.Observed.Now)
		if s.Run.StartTime.After(in.Observed.Now) {
			s.Run.StartTime = new(s.Run.AttemptStartTime)
		}
	case backup.Wait:
		follow(s.Run, in)
	case backup.Retry:
		fail(s, in, a.Failure)
		s.Run.RetryTime = new(metav1.NewTime(a.After))
	case backup.GiveUp:
		fail(s, in, a.Failure)
		s.LastScheduleTime, s.Run = new(s.Run.ScheduleTime), nil
	case backup.Finish:
		succeed(s, in.Result)
		s.LastScheduleTime, s.Run = new(s.Run.ScheduleTime), nil
	case backup.CancelRun:
		s.Run = nil
	}
}

func runOf(b *v1beta2.EtcdBackup, r backup.Run) *v1beta2.BackupRun {
	run := &v1beta2.BackupRun{
		Task: v1beta2.BackupTask(r.Task), ScheduleTime: metav1.NewTime(r.Due), Generation: b.Generation,
		AgentRun: v1beta2.AgentRun{
			Attempt: int32(r.Attempt), AttemptStartTime: metav1.NewTime(r.Started), //nolint:gosec // a few at most
			Pod: backup.PodName(b.Name, r),
		},
	}
	if !r.Began.IsZero() {
		run.StartTime = new(metav1.NewTime(r.Began))
	}
	return run
}

// follow records the pod's progress.
func follow(run *v1beta2.BackupRun, in BackupInput) {
	if run == nil || in.Observed.Pod == nil {
		return
	}
	run.Step = cmp.Or(run.Step, starting)
	if in.Progress != nil {
		run.Step, run.Bytes = string(in.Progress.Step), in.Progress.Bytes
	}
}

// fail records why an attempt failed, for clients of coreos/etcd-operator, and the snapshot that it has left, if any.
func fail(s *v1beta2.EtcdBackupStatus, in BackupInput, why failure.Problem) {
	s.Reason = why.Reason + ": " + why.Message
	if in.Observed.Run.Task != backup.TaskBackup {
		return
	}
	s.Succeeded = false
	if in.Result == nil {
		return
	}
	forget(s, in.Result.Discarded)
	if left := in.Result.Snapshot; left != nil {
		keep(s, *left)
		s.Snapshots = s.Snapshots[:min(len(s.Snapshots), maxSnapshots)]
	}
}

// forget removes deleted snapshots from the list.
func forget(s *v1beta2.EtcdBackupStatus, names ...string) {
	s.Snapshots = slices.DeleteFunc(s.Snapshots, func(old v1beta2.SnapshotStatus) bool { return slices.Contains(names, old.Name) })
}

// keep adds a snapshot to the list, which is in the order in which they were taken, whatever the clocks said. A verification that
// succeeded before stays recorded if it could not be repeated.
func keep(s *v1beta2.EtcdBackupStatus, taken v1beta2.SnapshotStatus) {
	i := slices.IndexFunc(s.Snapshots, func(old v1beta2.SnapshotStatus) bool { return old.Name == taken.Name })
	if i < 0 {
		s.Snapshots = slices.Insert(s.Snapshots, 0, taken)
		return
	}
	if old := s.Snapshots[i]; old.SHA256 == taken.SHA256 && taken.VerificationTime == nil {
		taken.VerificationTime, taken.Verification = old.VerificationTime, old.Verification
	}
	s.Snapshots[i] = taken
}

func succeed(s *v1beta2.EtcdBackupStatus, result *task.Result) {
	s.Succeeded, s.Reason = true, ""
	if result == nil || result.Snapshot == nil {
		return
	}
	taken := *result.Snapshot
	s.EtcdVersion, s.EtcdRevision, s.LastSuccessDate = taken.EtcdVersion, taken.Revision, new(taken.CreationTime)
	s.SnapshotCount = result.Total
	if len(result.Lineages) > 0 {
		s.Lineages = result.Lineages
	}
	// A backup that has replaced another one no longer has its interim name.
	s.Snapshots = slices.DeleteFunc(s.Snapshots, func(old v1beta2.SnapshotStatus) bool { return sameData(old, taken) })
	forget(s, append(result.Deleted, result.Discarded)...)
	keep(s, taken)
	// The result may not have had room for all deleted names: the latest are retained, so what is left is at the front.
	left := min(len(s.Snapshots), maxSnapshots, max(int(result.Total), 1))
	s.Snapshots = s.Snapshots[:left]
}

// sameData reports whether both are the same backup, possibly under another name.
func sameData(a, b v1beta2.SnapshotStatus) bool {
	return a.SHA256 == b.SHA256 && a.CreationTime.Equal(&b.CreationTime) && a.Revision == b.Revision
}

// reasons are those that a condition can have.
var reasons = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_]{0,126}[A-Za-z0-9])?$`)

// Reason is the reason that a pod reports, or ReasonSnapshotFailed if that is not valid in a condition.
func Reason(given string) string {
	if reasons.MatchString(given) {
		return given
	}
	return v1beta2.ReasonSnapshotFailed
}
