package etcdbackup_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// backupOverdue wants whoever looks to see that the last good backup is too old, with one event, and nothing to be written while only
// time passes.
func backupOverdue(t *testing.T, w *backups) {
	const upToDate, yes, no = v1beta2.ConditionUpToDate, metav1.ConditionTrue, metav1.ConditionFalse
	w.backup(t, "b", hourly)
	w.settle(t, "b")
	w.says(t, "b", upToDate, metav1.ConditionUnknown, v1beta2.ReasonNoBackupYet, "since the EtcdBackup was created")
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	last := w.clock.Now().UTC().Format(time.RFC3339)
	w.says(t, "b", upToDate, yes, v1beta2.ReasonBackedUp, "taken at "+last)

	w.edit(t, "b", func(s *v1beta2.EtcdBackupSpec) { // it waits, so no attempt fails
		s.EtcdEndpoints, s.EtcdCluster = nil, &v1beta2.EtcdClusterRef{Name: "missing"}
	})
	w.later(2 * time.Hour)
	w.settle(t, "b")
	w.says(t, "b", upToDate, yes, v1beta2.ReasonBackedUp, "taken at "+last)
	w.recordedEvents()
	w.later(time.Second)
	w.settle(t, "b")
	w.says(t, "b", upToDate, no, v1beta2.ReasonBackupOverdue, "taken at "+last+", more than twice the 1h0m0s")
	version := w.read(t, "b").ResourceVersion
	for range 3 {
		w.later(time.Hour)
		w.settle(t, "b")
	}
	if b := w.read(t, "b"); b.ResourceVersion != version {
		t.Errorf("nothing but time has passed, and it is written: %+v", b.Status)
	}
	if events := w.recordedEvents(); strings.Count(events, "BackupOverdue") != 1 || !strings.Contains(events, "Warning BackupOverdue the last good backup") {
		t.Errorf("events: %s", events)
	}

	w.edit(t, "b", func(s *v1beta2.EtcdBackupSpec) { s.Suspend = true })
	w.settle(t, "b")
	if c := meta.FindStatusCondition(w.read(t, "b").Status.Conditions, upToDate); c != nil {
		t.Errorf("suspended it is %+v", c)
	}
}
