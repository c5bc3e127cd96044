package etcdrestore_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrestore"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// process runs the controller as the operator does, with its cache: what happens to others must wake it.
func (s *stage) process(t *testing.T, config *rest.Config) {
	mgr := controllertest.NewManager(t, config)
	must(t, (&etcdrestore.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"),
		Reservations: controllertest.KeeperOf(mgr), Clock: clock.RealClock{}, OperatorImage: "operator:test",
	}).SetupWithManager(mgr))
	controllertest.Start(t, mgr)

	s.running(t, "woken", true)
	s.from(t, "process", "woken", func(spec *v1beta2.EtcdRestoreSpec) {
		spec.Storage, spec.Backup = nil, &v1beta2.EtcdBackupRef{Name: "hourly"}
	})
	await(t, "a wish for an EtcdBackup", func() error {
		c := meta.FindStatusCondition(s.restore(t, "process").Status.Conditions, v1beta2.ConditionProgressing)
		if c == nil || c.Reason != v1beta2.ReasonBackupMissing {
			return fmt.Errorf("it says %+v", c)
		}
		return nil
	})
	must(t, s.Create(t.Context(), &v1beta2.EtcdBackup{ObjectMeta: object("hourly"), Spec: v1beta2.EtcdBackupSpec{
		EtcdCluster: &v1beta2.EtcdClusterRef{Name: "woken"}, Storage: &v1beta2.Storage{URL: "s3://bucket"},
	}}))
	for _, phase := range []v1beta2.RestorePhase{v1beta2.RestoreVerifying, v1beta2.RestoreSaving} {
		await(t, "a pod for "+string(phase), func() error {
			o := s.restore(t, "process")
			for _, pod := range s.podsOf(t.Context(), t, o) {
				if o.Status.Phase != phase || o.Status.Run == nil || o.Status.Run.Pod != pod.Name {
					continue
				}
				if err := mgr.GetClient().Get(t.Context(), client.ObjectKeyFromObject(&pod), &corev1.Pod{}); err != nil {
					return fmt.Errorf("what becomes of the pod would not be heard: %w", err)
				}
				s.Ends(t, &pod, task.Result{Snapshot: controllertest.SnapshotOf(string(phase))})
				return nil
			}
			return fmt.Errorf("%s", pretty(o))
		})
	}
	reaches := func(phase v1beta2.RestorePhase) {
		await(t, string(phase), func() error {
			if o := s.restore(t, "process"); o.Status.Phase != phase {
				return fmt.Errorf("%s", pretty(o))
			}
			return nil
		})
	}
	reaches(v1beta2.RestoreReplacing)
	uid := string(s.restore(t, "process").UID)
	s.record(t, "woken", v1beta2.RestoreRecord{UID: uid, Name: "process", Snapshot: "Verifying"}, true)
	reaches(v1beta2.RestoreSucceeded)
}

// ofBackup waits for the EtcdBackup, and needs it no more once it has begun.
func (s *stage) ofBackup(t *testing.T) {
	s.running(t, "backed-up", true)
	o := s.from(t, "of-backup", "backed-up", func(spec *v1beta2.EtcdRestoreSpec) {
		spec.Storage, spec.Backup, spec.ClusterID = nil, &v1beta2.EtcdBackupRef{Name: "nightly"}, "00C0FFEE"
	})
	s.says(t, s.untilSays(t, "of-backup", v1beta2.ReasonBackupMissing), v1beta2.ReasonBackupMissing, "spec.backup")
	backup := &v1beta2.EtcdBackup{ObjectMeta: object("nightly"), Spec: v1beta2.EtcdBackupSpec{
		EtcdCluster: &v1beta2.EtcdClusterRef{Name: "backed-up"}, EncryptionSecretRef: v1beta2.SecretRef{Name: "key"},
		Storage: &v1beta2.Storage{URL: "gs://bucket", CredentialsSecretRef: v1beta2.SecretRef{Name: "keys"}},
	}}
	must(t, s.Create(t.Context(), backup))
	pod, first := s.untilPod(t, "of-backup")
	want := task.Choice{ClusterID: "00C0FFEE", Writer: task.Writer{
		Kind: "EtcdBackup", Namespace: namespace, Name: "nightly", UID: string(backup.UID),
	}}
	if first.Verify == nil || first.Verify.Choice != want || first.Storage != *backup.Spec.Storage || !first.Encrypted {
		t.Errorf("the task is %+v", first)
	}
	must(t, s.Delete(t.Context(), backup))
	must(t, s.Delete(t.Context(), pod)) // as a drain of its node does
	pod, _ = s.untilPod(t, "of-backup")
	s.Dies(t, pod, corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 2})
	s.untilSays(t, "of-backup", v1beta2.ReasonWaitingForRetry)
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	pod, again := s.untilPod(t, "of-backup")
	if again.Verify == nil || again.Verify.Choice != want || again.Storage != first.Storage {
		t.Errorf("without the EtcdBackup the task is %+v", again)
	}
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("snap.db")})
	o = s.untilPhase(t, o.Name, v1beta2.RestoreSaving)
	if o.Status.Source.EncryptionSecretRef.Name != "key" {
		t.Errorf("the source is %+v", o.Status.Source)
	}
}

func (s *stage) legacySource(t *testing.T) {
	s.running(t, "old", true)
	stanza := func(path string) func(*v1beta2.EtcdRestoreSpec) {
		return func(spec *v1beta2.EtcdRestoreSpec) {
			spec.Storage, spec.BackupStorageType = nil, v1beta2.StorageTypeS3
			spec.S3 = &v1beta2.S3Storage{Path: path, AWSSecret: "aws"}
		}
	}
	s.from(t, "legacy", "old", stanza("bucket/folder/key_v7_2020-01-02-03:04:05"))
	if _, asked := s.untilPod(t, "legacy"); asked.Verify == nil || asked.Verify.Object != "key_v7_2020-01-02-03:04:05" {
		t.Errorf("the task is %+v", asked)
	}
	s.from(t, "legacy-bucket", "old", stanza("bucket"))
	s.says(t, s.untilPhase(t, "legacy-bucket", v1beta2.RestoreFailed), v1beta2.ReasonStorageMisconfigured, "bucket/key")
	s.from(t, "legacy-endpoint", "old", func(spec *v1beta2.EtcdRestoreSpec) {
		stanza("bucket/key")(spec)
		spec.S3.Endpoint = "http://minio:9000/path"
	})
	s.says(t, s.untilPhase(t, "legacy-endpoint", v1beta2.RestoreFailed), v1beta2.ReasonStorageMisconfigured, "endpoint")
}

func (s *stage) missingCluster(t *testing.T) {
	s.from(t, "early", "late", nil)
	s.says(t, s.untilSays(t, "early", v1beta2.ReasonClusterMissing), v1beta2.ReasonClusterMissing, "spec.restoreFrom")
	must(t, s.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: object("late"), Spec: v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.4"},
	}))
	s.verified(t, "early")
	if o := s.untilPhase(t, "early", v1beta2.RestoreReplacing); o.Status.SafetySnapshot != nil {
		t.Errorf("something was saved of a cluster that has never been up: %s", pretty(o))
	}
	s.replaced(t, "early", "late")
}

func (s *stage) leaving(t *testing.T) {
	c := s.running(t, "leaving", false)
	s.from(t, "stopped", "leaving", func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip })
	s.verified(t, "stopped")
	s.untilPhase(t, "stopped", v1beta2.RestoreReplacing)
	c = s.cluster(t, c.Name)
	c.Spec.Paused = true
	must(t, s.Update(t.Context(), c))
	s.says(t, s.untilSays(t, "stopped", v1beta2.ReasonPaused), v1beta2.ReasonPaused, "spec.paused")
	must(t, s.Delete(t.Context(), c))
	o := s.untilPhase(t, "stopped", v1beta2.RestoreFailed)
	s.says(t, o, v1beta2.ReasonClusterDeleted, "its old data may be gone")
	s.until(t, "stopped", "its release", func(o *v1beta2.EtcdRestore) bool { return len(o.Finalizers) == 0 })
}

// former wants what an earlier operator has carried out, or refused, not to be carried out now.
func (s *stage) former(t *testing.T) {
	s.running(t, "settled", true)
	for name, status := range map[string]v1beta2.EtcdRestoreStatus{
		"done-before":    {Succeeded: true},
		"refused-before": {Reason: "this release does not carry out EtcdRestore objects"},
	} {
		o := s.from(t, name, "settled", nil)
		o.Status = status
		must(t, s.Status().Update(t.Context(), o))
		for range 3 {
			s.step(t, name)
		}
		o = s.restore(t, name)
		accepted := meta.FindStatusCondition(o.Status.Conditions, v1beta2.ConditionAccepted)
		if o.Status.Phase != "" || o.Status.Run != nil || o.Status.Reason != status.Reason || accepted == nil ||
			accepted.Reason != v1beta2.ReasonAnsweredBefore {
			t.Errorf("it is %s", pretty(o))
		}
	}
}
