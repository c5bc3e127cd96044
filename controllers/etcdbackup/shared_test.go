package etcdbackup_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// legacyKey is storage in coreos/etcd-operator's way: every backup has the same name.
func legacyKey(path string) func(*v1beta2.EtcdBackupSpec) {
	return func(s *v1beta2.EtcdBackupSpec) {
		s.Storage, s.StorageType = nil, v1beta2.StorageTypeS3
		s.S3 = &v1beta2.S3Storage{Path: path, AWSSecret: "aws"}
	}
}

// backupShared has four use a storage: two write one object, the third another one, and names of the fourth are its own.
func backupShared(t *testing.T, w *backups) {
	w.backup(t, "a", legacyKey("shared/x"))
	w.backup(t, "b", legacyKey("shared/x"))
	w.backup(t, "c", legacyKey("shared/y"))
	w.backup(t, "d", func(s *v1beta2.EtcdBackupSpec) { s.Storage.URL = "s3://shared" })
	for _, name := range []string{"a", "b", "c", "d"} {
		w.settle(t, name)
	}
	a := w.pod(t, "a")
	w.pod(t, "c")
	w.pod(t, "d")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonWaitingForStorage, "EtcdBackup a is at work")
	if pods := w.pods(t, "b"); len(pods) > 0 {
		t.Fatalf("%s is at work beside %s", pods[0].Name, a.Name)
	}
	w.Ends(t, a, refusedBy(v1beta2.ReasonEtcdUnreachable, false))
	w.settle(t, "a")
	w.settle(t, "b") // a waits for its next try: it is b's turn
	b := w.pod(t, "b")
	w.later(time.Minute)
	w.settle(t, "a")
	w.says(t, "a", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonWaitingForStorage, "EtcdBackup b is at work")
	w.Ends(t, b, w.taken(1, 1))
	w.settle(t, "b")
	w.settle(t, "a")
	if again := w.pod(t, "a"); again.Name == a.Name {
		t.Errorf("%s has no other try", a.Name)
	}
}

// backupTenants has another namespace use the same bucket, which no one has to prove that it may: no one waits for it.
func backupTenants(t *testing.T, w *backups) {
	other := *w
	other.namespace = w.namespace + "-other"
	must(t, w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other.namespace}}))
	long := func(s *v1beta2.EtcdBackupSpec) { s.BackupPolicy = &v1beta2.BackupPolicy{TimeoutSeconds: 3153600000} }
	for name, change := range map[string]func(*v1beta2.EtcdBackupSpec){
		"key": legacyKey("tenants/x"), "bucket": func(s *v1beta2.EtcdBackupSpec) { s.Storage.URL = "s3://tenants" },
	} {
		other.backup(t, name, func(s *v1beta2.EtcdBackupSpec) { change(s); long(s) })
		other.settle(t, name)
		other.pod(t, name)
		w.backup(t, name, change)
		w.settle(t, name)
		w.pod(t, name)
	}
}

// backupHeldUp has one hold an object for a hundred years. It is said that backups are left out, and waited for no more than
// some hours.
func backupHeldUp(t *testing.T, w *backups) {
	w.backup(t, "b", func(s *v1beta2.EtcdBackupSpec) {
		legacyKey("held/x")(s)
		s.BackupPolicy = &v1beta2.BackupPolicy{LegacyInterval: 3600}
	})
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	w.backup(t, "a", func(s *v1beta2.EtcdBackupSpec) {
		legacyKey("held/x")(s)
		s.BackupPolicy = &v1beta2.BackupPolicy{LegacyTimeout: 3153600000}
	})
	w.settle(t, "a")
	w.Runs(t, w.pod(t, "a"), "127.0.0.1")
	w.later(time.Hour)
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonWaitingForStorage, "EtcdBackup a")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "")
	w.recordedEvents()
	w.later(time.Hour)
	for range 2 {
		w.settle(t, "b")
	}
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonWaitingForStorage, "EtcdBackup a")
	if recorded := w.recordedEvents(); strings.Count(recorded, "Warning WaitingForStorage") != 1 {
		t.Errorf("events:\n%s", recorded)
	}
	w.later(5 * time.Hour)
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(2, 2))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "revision 2")
}
