package etcdbackup_test

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// backupOfCluster waits for a cluster that does not exist, does not start, and is up at last.
func backupOfCluster(t *testing.T, w *backups) {
	w.backup(t, "b", func(s *v1beta2.EtcdBackupSpec) {
		s.EtcdEndpoints, s.EtcdCluster = nil, &v1beta2.EtcdClusterRef{Name: "c"}
	})
	blocked := func(reason, message string) {
		t.Helper()
		w.settle(t, "b")
		w.says(t, "b", v1beta2.ConditionAccepted, metav1.ConditionFalse, reason, message)
		w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionFalse, reason, message)
		if s := w.read(t, "b").Status; s.Run != nil || s.NextScheduleTime != nil {
			t.Fatalf("%+v", s)
		}
	}
	blocked(v1beta2.ReasonClusterMissing, "EtcdCluster c not found in namespace "+w.namespace)
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "c"}}
	c.Spec = v1beta2.EtcdClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{ClusterDomain: ".example"}}
	must(t, w.Create(t.Context(), c))
	blocked(v1beta2.ReasonWaitingForCluster, "is not up yet")
	legacy := metav1.Condition{
		Type: v1beta2.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonLegacyMembers,
		LastTransitionTime: metav1.Now(),
	}
	c.Status.Conditions = []metav1.Condition{legacy}
	must(t, w.Status().Update(t.Context(), c))
	blocked(v1beta2.ReasonWaitingForCluster, "spec.etcdEndpoints")
	c.Status.Conditions, c.Status.ClusterID, c.Status.Hibernation = nil, "abc", "Hibernated"
	must(t, w.Status().Update(t.Context(), c))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionAccepted, metav1.ConditionTrue, v1beta2.ReasonAccepted, "")
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionFalse, v1beta2.ReasonHibernated, "the next backup is taken once they run")
	c.Status.Hibernation = ""
	c.Status.MemberStatuses = []v1beta2.MemberStatus{
		{Name: "c-0", Role: v1beta2.MemberRoleVoter},
		{Name: "c-1", Role: v1beta2.MemberRoleLearner},
		{Name: "c-2", Role: v1beta2.MemberRoleVoter},
		{Name: "c-3", Role: v1beta2.MemberRoleNone},
	}
	// It was restored twice. The first one's record tells what it has come from; a second one, for a restore that was called
	// off, does not.
	c.Status.Bootstrap = &v1beta2.BootstrapStatus{Incarnation: 3, Token: "t", Members: []string{"c-0"}, ClusterID: "abc", Restore: "r2"}
	for _, uid := range []string{"r3", "r2", "r1"} {
		c.Status.Restores = append(c.Status.Restores, v1beta2.RestoreRecord{
			UID: uid, Name: uid, Snapshot: "s", SourceClusterID: "000a" + uid, SourceRevision: 9, StartTime: metav1.Now(),
		})
	}
	c.Status.Restores[2].SourceClusterID = ""
	must(t, w.Status().Update(t.Context(), c))
	w.settle(t, "b")
	got := controllertest.TaskOf(t, w.pod(t, "b")).Backup
	host := "." + "c." + w.namespace + ".svc.example:2379"
	if want := []string{"http://c-0" + host, "http://c-2" + host}; !reflect.DeepEqual(got.Endpoints, want) {
		t.Errorf("endpoints %v, want %v", got.Endpoints, want)
	}
	want := task.Cluster{
		Namespace: w.namespace, Name: "c", UID: string(c.UID), ID: "abc", Parent: "ar2", ParentRevision: 9, Incarnation: 3,
	}
	if known := []string{"000ar3", "000ar2"}; !reflect.DeepEqual(got.Ancestors, known) || got.Shared {
		t.Errorf("it descends from %v; shared is %t", got.Ancestors, got.Shared)
	}
	if got.Cluster != want {
		t.Errorf("of %+v, want %+v", got.Cluster, want)
	}
	w.says(t, "b", v1beta2.ConditionAccepted, metav1.ConditionTrue, v1beta2.ReasonAccepted, "")
}

// backupBadSpec answers what the schema cannot see, and goes on once it is mended.
func backupBadSpec(t *testing.T, w *backups) {
	for name, c := range map[string]struct {
		change          func(*v1beta2.EtcdBackupSpec)
		reason, message string
	}{
		"zone": {func(s *v1beta2.EtcdBackupSpec) {
			s.Schedule, s.TimeZone = "30 2 * * *", "Europe/Berln"
		}, v1beta2.ReasonInvalidSchedule, "spec.timeZone"},
		"schedule": {func(s *v1beta2.EtcdBackupSpec) {
			s.Schedule = "61 2 * * *"
		}, v1beta2.ReasonInvalidSchedule, "spec.schedule"},
		"recipient": {func(s *v1beta2.EtcdBackupSpec) {
			s.EncryptionRecipients = []string{
				"age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj",
				"age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwq",
			}
		}, v1beta2.ReasonEncryptionKeyRefused, "spec.encryptionRecipients[1]"},
		"stanza": {func(s *v1beta2.EtcdBackupSpec) {
			s.Storage, s.StorageType = nil, v1beta2.StorageTypeS3
			s.S3 = &v1beta2.S3Storage{Path: "bucket"}
		}, v1beta2.ReasonStorageMisconfigured, "bucket/key"},
	} {
		w.backup(t, name, c.change)
		w.settle(t, name)
		w.says(t, name, v1beta2.ConditionAccepted, metav1.ConditionFalse, c.reason, c.message)
		w.says(t, name, v1beta2.ConditionProgressing, metav1.ConditionFalse, c.reason, c.message)
		if pods := w.pods(t, name); len(pods) > 0 {
			t.Errorf("%s: it is at work", name)
		}
	}
	w.edit(t, "recipient", func(s *v1beta2.EtcdBackupSpec) { s.EncryptionRecipients = s.EncryptionRecipients[:1] })
	w.settle(t, "recipient")
	pod := w.pod(t, "recipient")
	if sealed := controllertest.TaskOf(t, pod); !slices.Equal(sealed.Recipients, w.read(t, "recipient").Spec.EncryptionRecipients) ||
		sealed.Encrypted || sealed.Identity || slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "agent-key" }) {
		t.Errorf("task %+v", sealed)
	}
	w.edit(t, "stanza", func(s *v1beta2.EtcdBackupSpec) { s.S3.Path = "bucket/folder/key" })
	w.settle(t, "stanza")
	asked := controllertest.TaskOf(t, w.pod(t, "stanza"))
	if asked.Storage.URL != "s3://bucket/folder" || asked.Backup.LegacyKey != "key" || asked.Timeout.Seconds() != 60 {
		t.Errorf("task %+v, key %q", asked, asked.Backup.LegacyKey)
	}
}
