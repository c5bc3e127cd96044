package etcdbackup_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// doubtful is the result of an attempt that has left a snapshot that cannot be relied on.
func (w *backups) doubtful(reason string, revision int64, change func(*v1beta2.SnapshotStatus)) task.Result {
	result := w.taken(revision, 0)
	result.Failure = refusedBy(reason, false).Failure
	change(result.Snapshot)
	return result
}

// backupStale has the agent meet a member that is cut off. What it saves is shown, and is no success.
func backupStale(t *testing.T, w *backups) {
	stale := func(s *v1beta2.SnapshotStatus) { s.Stale = true }
	w.backup(t, "b", hourly)
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(7, 1))
	w.settle(t, "b")
	good := w.read(t, "b").Status
	w.later(time.Hour)
	w.settle(t, "b")
	if asked := controllertest.TaskOf(t, w.pod(t, "b")); asked.Backup.Run == "" || asked.Backup.Again || asked.Backup.AcceptStale {
		t.Errorf("task %+v", asked.Backup)
	}
	run := controllertest.TaskOf(t, w.pod(t, "b")).Backup.Run
	w.Ends(t, w.pod(t, "b"), w.doubtful(v1beta2.ReasonStaleBackup, 8, stale))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonStaleBackup, "it is said what to do")
	s := w.read(t, "b").Status
	if s.Succeeded || !s.LastSuccessDate.Equal(good.LastSuccessDate) || s.EtcdRevision != 7 || s.Run == nil ||
		len(s.Snapshots) != 2 || !s.Snapshots[0].Stale || s.Snapshots[1].Stale {
		t.Errorf("status %+v", s)
	}
	got := controllertest.Metrics(t, w.namespace)
	if got["etcd_operator_backup_stale"] != 1 || got["etcd_operator_backup_last_attempt_successful"] != 0 ||
		got["etcd_operator_backup_last_success_timestamp_seconds"] != float64(good.LastSuccessDate.Unix()) {
		t.Errorf("metrics %v", got)
	}
	if recorded := w.recordedEvents(); !strings.Contains(recorded, "Warning StaleBackup") {
		t.Errorf("events:\n%s", recorded)
	}
	w.later(10 * time.Second)
	w.settle(t, "b")
	if asked := controllertest.TaskOf(t, w.pod(t, "b")); asked.Backup.Run != run || !asked.Backup.Again {
		t.Errorf("another try of %s is %+v", run, asked.Backup)
	}
	w.Ends(t, w.pod(t, "b"), w.taken(9, 3))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "revision 9")
	if got := controllertest.Metrics(t, w.namespace)["etcd_operator_backup_stale"]; got != 0 {
		t.Errorf("stale is %v", got)
	}
}

// backupUnverified has a check not be made. What was saved is shown, and its check is what the next attempt is for.
func backupUnverified(t *testing.T, w *backups) {
	w.backup(t, "b", asItIs)
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.doubtful(v1beta2.ReasonBackupUnverified, 7, func(*v1beta2.SnapshotStatus) {}))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonBackupUnverified, "it is said what to do")
	if s := w.read(t, "b").Status; s.Succeeded || s.LastSuccessDate != nil || len(s.Snapshots) != 1 || s.Snapshots[0].VerificationTime != nil {
		t.Errorf("status %+v", s)
	}
	w.later(10 * time.Second)
	w.settle(t, "b")
	if asked := controllertest.TaskOf(t, w.pod(t, "b")); !asked.Backup.Again || asked.Backup.Run == "" {
		t.Errorf("another try is %+v", asked.Backup)
	}
	damaged := w.taken(8, 1)
	damaged.Discarded = "7.db.zst"
	w.Ends(t, w.pod(t, "b"), damaged)
	w.settle(t, "b")
	if s := w.read(t, "b").Status; !s.Succeeded || len(s.Snapshots) != 1 || s.Snapshots[0].Revision != 8 {
		t.Errorf("status %+v", s)
	}
}
