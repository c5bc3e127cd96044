package etcdbackup_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestEtcdBackup asks a real API server, under the operator's own role. One server serves all: it takes seconds to start.
func TestEtcdBackup(t *testing.T) {
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	for name, test := range map[string]func(*testing.T, *backups){
		"once":         backupOnce,
		"legacy":       backupLegacy,
		"periodic":     backupPeriodic,
		"snapshots":    backupSnapshots,
		"retries":      backupRetries,
		"edited":       backupEdited,
		"shared":       backupShared,
		"tenants":      backupTenants,
		"held-up":      backupHeldUp,
		"silent":       backupSilent,
		"stale":        backupStale,
		"unverified":   backupUnverified,
		"cluster":      backupOfCluster,
		"bad-spec":     backupBadSpec,
		"at-once":      backupAtOnce,
		"suspended":    backupSuspended,
		"foreign-pod":  backupForeignPod,
		"lost-pod":     backupLostPod,
		"clock-back":   backupClockBack,
		"retained":     backupRetained,
		"cleaned":      backupCleaned,
		"way-out":      backupWayOut,
		"terminating":  backupTerminating,
		"stopped":      backupStopped,
		"progress":     backupProgress,
		"kept-metrics": backupMetrics,
		"overdue":      backupOverdue,
	} {
		t.Run(name, func(t *testing.T) { test(t, newBackups(t, config, admin, "backup-"+name)) })
	}
	t.Run("woken", func(t *testing.T) { backupWoken(t, config, newBackups(t, config, admin, "backup-woken")) })
}

func backupOnce(t *testing.T, w *backups) {
	w.backup(t, "b", func(s *v1beta2.EtcdBackupSpec) {
		s.EncryptionSecretRef.Name, s.ClientTLSSecret, s.PrefixPolicy = "passphrase", "tls", v1beta2.PrefixShared
		s.PasswordSecretRef = &v1beta2.SecretKeyRef{Name: "login"}
		s.BackupPolicy = &v1beta2.BackupPolicy{MaxBackups: 3, MaxAge: &metav1.Duration{Duration: 48 * time.Hour}}
	})
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionAccepted, metav1.ConditionTrue, v1beta2.ReasonAccepted, "")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionUnknown, v1beta2.ReasonNoBackupYet, "")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonWaitingForPods, "")
	pod := w.pod(t, "b")
	if !metav1.IsControlledBy(pod, w.read(t, "b")) || pod.Name != w.read(t, "b").Status.Run.Pod {
		t.Errorf("the pod is %+v", pod.ObjectMeta)
	}
	task := controllertest.TaskOf(t, pod)
	if task.Backup == nil || task.Backup.Endpoints[0] != "http://etcd:2379" || !task.Backup.TLS || !task.Encrypted ||
		*task.Backup.Login != (v1beta2.SecretKeyRef{Name: "login", Key: "password"}) ||
		task.Writer.Name != "b" || task.Timeout != time.Hour || !task.Backup.Compress || task.Backup.Periodic ||
		!task.Backup.Shared || task.Backup.Policy.Last != 3 || task.Backup.Policy.MaxAge != 48*time.Hour {
		t.Errorf("its task is %+v, %+v", task, task.Backup)
	}
	w.Runs(t, pod, "127.0.0.1")
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonBackingUp, "")
	w.later(time.Minute)
	done := w.taken(7, 1)
	done.Lineages = lineages(done.Snapshot.CreationTime)
	w.Ends(t, pod, done)
	if result := w.settle(t, "b"); result.RequeueAfter != 0 {
		t.Errorf("it is over, and looked at again in %s", result.RequeueAfter)
	}
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "revision 7 of etcd 3.6.16, 2Mi")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionFalse, v1beta2.ReasonCompleted, "")
	s := w.read(t, "b").Status
	if !s.Succeeded || s.Reason != "" || s.EtcdRevision != 7 || s.EtcdVersion != "3.6.16" || s.Run != nil ||
		!s.LastSuccessDate.Time.Equal(w.clock.Now()) || s.SnapshotCount != 1 || len(s.Snapshots) != 1 || s.NextScheduleTime != nil || len(s.Lineages) != 2 || s.Lineages[1].Count != 2 {
		t.Errorf("status %+v", s)
	}
	if pods := w.pods(t, "b"); len(pods) > 0 {
		t.Errorf("%s is still there", pods[0].Name)
	}
	w.edit(t, "b", func(s *v1beta2.EtcdBackupSpec) { s.Verify = v1beta2.VerifyNone })
	w.later(time.Hour)
	w.settle(t, "b")
	if pods := w.pods(t, "b"); len(pods) > 0 {
		t.Errorf("an edit has it taken a second time")
	}
	if recorded := w.recordedEvents(); !strings.Contains(recorded, "Normal BackingUp attempt 1") || !strings.Contains(recorded, "Normal BackedUp 7.db.zst") {
		t.Errorf("events:\n%s", recorded)
	}
}

// backupLegacy takes over one that coreos/etcd-operator has carried out, and one that it could not.
func backupLegacy(t *testing.T, w *backups) {
	for name, succeeded := range map[string]bool{"done": true, "failed": false} {
		b := w.backup(t, name, func(s *v1beta2.EtcdBackupSpec) {
			s.Storage, s.StorageType = nil, v1beta2.StorageTypeS3
			s.S3 = &v1beta2.S3Storage{Path: "bucket/" + w.namespace + "/" + name, AWSSecret: "aws"}
		})
		b.Status.Succeeded, b.Status.Reason = succeeded, "what it said"
		must(t, w.Status().Update(t.Context(), b))
		w.settle(t, name)
	}
	if pods := w.pods(t, "done"); len(pods) > 0 {
		t.Error("it is taken a second time")
	}
	w.says(t, "done", v1beta2.ConditionProgressing, metav1.ConditionFalse, v1beta2.ReasonCompleted, "")
	w.pod(t, "failed")
}

func backupPeriodic(t *testing.T, w *backups) {
	created := w.backup(t, "b", hourly).CreationTimestamp
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	s := w.read(t, "b").Status
	if !s.LastScheduleTime.Equal(&created) || !s.NextScheduleTime.Time.Equal(w.read(t, "b").Status.LastScheduleTime.Add(time.Hour)) {
		t.Fatalf("due at %s, was due at %s, will be at %s", created, s.LastScheduleTime, s.NextScheduleTime)
	}
	w.clock.SetTime(s.NextScheduleTime.Add(-2 * time.Second))
	if result := w.settle(t, "b"); result.RequeueAfter != 2*time.Second || len(w.pods(t, "b")) > 0 {
		t.Errorf("two seconds too early: %+v, %d pods", result, len(w.pods(t, "b")))
	}
	w.later(2 * time.Second)
	w.settle(t, "b")
	if task := controllertest.TaskOf(t, w.pod(t, "b")); !task.Backup.Periodic {
		t.Errorf("task %+v", task.Backup)
	}
	w.Ends(t, w.pod(t, "b"), w.taken(2, 2))
	w.settle(t, "b")

	w.later(5*time.Hour + time.Minute) // the operator was away
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(3, 3))
	w.settle(t, "b")
	s = w.read(t, "b").Status
	if len(w.pods(t, "b")) > 0 || len(s.Snapshots) != 3 || s.LastScheduleTime.Sub(created.Time) != 6*time.Hour {
		t.Errorf("of five missed runs one is to be made up for: %+v", s)
	}
}

// backupSnapshots wants the latest ten, the newest first, without those that were deleted.
func backupSnapshots(t *testing.T, w *backups) {
	w.backup(t, "b", hourly)
	for i := range int64(12) {
		result := w.taken(100-i, int32(i)+1)
		if i == 5 {
			result.Deleted, result.Total = []string{"97.db.zst"}, 5
		}
		w.settle(t, "b")
		w.Ends(t, w.pod(t, "b"), result)
		w.settle(t, "b")
		w.later(time.Hour)
	}
	s := w.read(t, "b").Status
	var revisions []int64
	for _, snapshot := range s.Snapshots {
		revisions = append(revisions, snapshot.Revision)
	}
	if len(revisions) != 10 || revisions[0] != 89 || revisions[9] != 99 || s.EtcdRevision != 89 {
		t.Errorf("%v, latest %d", revisions, s.EtcdRevision)
	}
	if recorded := w.recordedEvents(); !strings.Contains(recorded, "Normal Pruned") || !strings.Contains(recorded, "97.db.zst") {
		t.Errorf("events:\n%s", recorded)
	}
}

// backupRetries has the storage be away for more than five minutes: the backup is taken nevertheless, unless it is away for a
// day.
func backupRetries(t *testing.T, w *backups) {
	w.backup(t, "b", asItIs)
	names := map[string]bool{}
	delay := 10 * time.Second
	try := 0
	fail := func() time.Duration {
		t.Helper()
		try++
		w.settle(t, "b")
		pod := w.pod(t, "b")
		names[pod.Name] = true
		w.Ends(t, pod, refusedBy(v1beta2.ReasonStorageUnreachable, false))
		result := w.settle(t, "b")
		if kept := w.pod(t, "b"); kept.Name != pod.Name {
			t.Fatalf("the log of %s is gone", pod.Name)
		}
		w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonStorageUnreachable, "it is said what to do")
		return result.RequeueAfter
	}
	for range 8 {
		if after := fail(); after != delay {
			t.Fatalf("after try %d the next one comes in %s, want %s", try, after, delay)
		}
		w.later(delay)
		delay = min(2*delay, 5*time.Minute)
	}
	if len(names) != try {
		t.Errorf("%d tries had the pods %v", try, names)
	}
	if recorded := w.recordedEvents(); strings.Count(recorded, "Warning StorageUnreachable") != try {
		t.Errorf("events:\n%s", recorded)
	}
	w.later(24 * time.Hour)
	fail()
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonStorageUnreachable, "giving up after attempt 9")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionFalse, v1beta2.ReasonCompleted, "")
	if s := w.read(t, "b").Status; s.Succeeded || s.Reason != "StorageUnreachable: it is said what to do" || s.Run != nil {
		t.Errorf("status %+v", s)
	}
}

// backupEdited mends the spec of one that was given up, before and after it was.
func backupEdited(t *testing.T, w *backups) {
	mend := func(s *v1beta2.EtcdBackupSpec) { s.Storage.CredentialsSecretRef.Name += "x" }
	w.backup(t, "b", asItIs)
	w.settle(t, "b")
	w.edit(t, "b", mend)
	w.Ends(t, w.pod(t, "b"), refusedBy(v1beta2.ReasonStorageCredentialsRefused, true))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonWaitingForRetry, "attempt 1 failed")
	w.later(10 * time.Second)
	w.settle(t, "b")
	if task := controllertest.TaskOf(t, w.pod(t, "b")); task.Storage.CredentialsSecretRef.Name != "keysx" {
		t.Errorf("another try has the Secret %s", task.Storage.CredentialsSecretRef.Name)
	}
	w.Ends(t, w.pod(t, "b"), refusedBy(v1beta2.ReasonStorageCredentialsRefused, true))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionFalse, v1beta2.ReasonCompleted, "")
	w.edit(t, "b", mend)
	w.settle(t, "b")
	if task := controllertest.TaskOf(t, w.pod(t, "b")); task.Storage.CredentialsSecretRef.Name != "keysxx" {
		t.Errorf("after an edit it is tried with the Secret %s", task.Storage.CredentialsSecretRef.Name)
	}
}

// backupAtOnce takes one beside a schedule, which goes on as if there was none.
func backupAtOnce(t *testing.T, w *backups) {
	same := func(s *v1beta2.EtcdBackupSpec) { s.Storage.URL = "s3://at-once/x" }
	w.backup(t, "hourly", func(s *v1beta2.EtcdBackupSpec) { same(s); hourly(s) })
	w.settle(t, "hourly")
	w.Ends(t, w.pod(t, "hourly"), w.taken(1, 1))
	w.settle(t, "hourly")
	before := w.read(t, "hourly").Status
	w.later(10 * time.Minute)
	w.backup(t, "now", same)
	w.settle(t, "now")
	w.settle(t, "hourly")
	w.Ends(t, w.pod(t, "now"), w.taken(2, 1))
	w.settle(t, "now")
	w.says(t, "now", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "revision 2")
	w.settle(t, "hourly")
	if after := w.read(t, "hourly").Status; !after.NextScheduleTime.Equal(before.NextScheduleTime) || after.SnapshotCount != 1 || after.EtcdRevision != 1 {
		t.Errorf("the schedule was %+v, and is %+v", before, after)
	}
}

func backupSuspended(t *testing.T, w *backups) {
	w.backup(t, "b", func(s *v1beta2.EtcdBackupSpec) { s.Suspend = true })
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionFalse, v1beta2.ReasonSuspended, "spec.suspend")
	if pods := w.pods(t, "b"); len(pods) > 0 {
		t.Fatal("it is at work")
	}
	w.edit(t, "b", func(s *v1beta2.EtcdBackupSpec) { s.Suspend = false })
	w.settle(t, "b")
	w.edit(t, "b", func(s *v1beta2.EtcdBackupSpec) { s.Suspend = true })
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	if !w.read(t, "b").Status.Succeeded {
		t.Error("the one that was under way has not gone on")
	}
}
