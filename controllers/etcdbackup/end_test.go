package etcdbackup_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

func deleteObjects(s *v1beta2.EtcdBackupSpec) { s.DeletionPolicy = v1beta2.DeletionDelete }

func (w *backups) remove(t *testing.T, name string) {
	t.Helper()
	must(t, w.Delete(t.Context(), w.read(t, name)))
}

func backupRetained(t *testing.T, w *backups) {
	w.backup(t, "b", asItIs)
	w.settle(t, "b")
	w.remove(t, "b")
	w.settle(t, "b")
	if !w.gone(t.Context(), "b") {
		t.Error("it is held")
	}
}

func backupCleaned(t *testing.T, w *backups) {
	w.backup(t, "b", func(s *v1beta2.EtcdBackupSpec) {
		hourly(s)
		deleteObjects(s)
		s.BackupPolicy.TimeoutSeconds = 60 // for a backup: to delete many takes longer
	})
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	w.later(time.Hour)
	w.settle(t, "b")
	busy := w.pod(t, "b")
	w.remove(t, "b")
	w.settle(t, "b")
	pod := w.pod(t, "b")
	if asked := controllertest.TaskOf(t, pod); pod.Name == busy.Name || asked.Clean == nil || asked.Backup != nil || asked.Writer.UID == "" {
		t.Fatalf("%s is to do %+v", pod.Name, asked)
	}
	w.Runs(t, pod, controllertest.Loopback(201))
	w.later(30 * time.Minute)
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonCleaning, "")
	w.Ends(t, pod, refusedBy(v1beta2.ReasonStorageUnreachable, true))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonWaitingForRetry, "deletionPolicy to Retain")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "")
	w.later(10 * time.Second)
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), task.Result{})
	w.settle(t, "b")
	if !w.gone(t.Context(), "b") {
		t.Errorf("the objects are gone, and it is held: %+v", w.read(t, "b"))
	}
}

// backupWayOut has a storage that no one can reach keep an EtcdBackup until its policy changes.
func backupWayOut(t *testing.T, w *backups) {
	w.backup(t, "never-ran", func(s *v1beta2.EtcdBackupSpec) {
		deleteObjects(s)
		s.Suspend = true
	})
	w.backup(t, "b", deleteObjects)
	for _, name := range []string{"never-ran", "b"} {
		w.settle(t, name)
		w.remove(t, name)
		w.settle(t, name)
	}
	if !w.gone(t.Context(), "never-ran") {
		t.Error("it is held for objects that it never wrote")
	}
	for range 10 {
		w.settle(t, "b")
		w.Ends(t, w.pod(t, "b"), refusedBy(v1beta2.ReasonNoSuchBucket, true))
		w.settle(t, "b")
		w.later(5 * time.Minute)
	}
	w.edit(t, "b", func(s *v1beta2.EtcdBackupSpec) { s.DeletionPolicy = v1beta2.DeletionRetain })
	w.settle(t, "b")
	if !w.gone(t.Context(), "b") {
		t.Errorf("it is held: %+v", w.read(t, "b"))
	}
}

// backupTerminating deletes the namespace: no pod can be made there any more.
func backupTerminating(t *testing.T, w *backups) {
	w.backup(t, "b", deleteObjects)
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	must(t, w.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	w.remove(t, "b")
	w.settle(t, "b")
	if !w.gone(t.Context(), "b") {
		t.Errorf("it holds the namespace: %+v", w.read(t, "b"))
	}
	if recorded := w.recordedEvents(); !strings.Contains(recorded, "they stay in the storage") {
		t.Errorf("events:\n%s", recorded)
	}
}
