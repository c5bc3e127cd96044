package controllers

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestUnsupported wants backups to be answered, once for each generation.
func TestUnsupported(t *testing.T) {
	config := testenv.Start(t)
	c := testenv.Client(t, config)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: testenv.Scheme(t), Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	recorder := events.NewFakeRecorder(10)
	if err := (&UnsupportedReconciler{Client: mgr.GetClient(), Recorder: recorder}).SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	run(t, mgr)

	s3 := v1beta2.BackupStorage{S3: &v1beta2.S3Storage{Path: "bucket/key"}}
	object := metav1.ObjectMeta{Name: "a", Namespace: "default"}
	backup := &v1beta2.EtcdBackup{ObjectMeta: object}
	backup.Spec = v1beta2.EtcdBackupSpec{StorageType: v1beta2.StorageTypeS3, BackupStorage: s3}
	if err := c.Create(t.Context(), backup); err != nil {
		t.Fatalf("create the backup: %v", err)
	}
	await(t, c, backup, func() bool { return refused(backup, backup.Status.Conditions, backup.Status.Reason) })

	backup.Spec.EtcdEndpoints = []string{"http://a-client:2379"}
	if err := c.Update(t.Context(), backup); err != nil {
		t.Fatalf("edit the backup: %v", err)
	}
	await(t, c, backup, func() bool { return refused(backup, backup.Status.Conditions, backup.Status.Reason) })

	// Our own writes wake the controllers again: when one more object has been answered, those were looked at too.
	next := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"}, Spec: backup.Spec}
	if err := c.Create(t.Context(), next); err != nil {
		t.Fatalf("create another backup: %v", err)
	}
	await(t, c, next, func() bool { return refused(next, next.Status.Conditions, next.Status.Reason) })
	if got, want := len(recorder.Events), 3; got > want {
		t.Errorf("%d events for %d answers", got, want)
	}
}

func refused(o client.Object, conditions []metav1.Condition, reason string) bool {
	condition := meta.FindStatusCondition(conditions, v1beta2.ConditionAccepted)
	return condition != nil && condition.Status == metav1.ConditionFalse && reason != "" &&
		condition.Reason == v1beta2.ReasonNotSupportedYet && condition.ObservedGeneration == o.GetGeneration()
}

// run starts the manager and ends it with the test, before the API server goes away.
func run(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
}

// await reads the object again and again until the condition holds.
func await(t *testing.T, c client.Client, o client.Object, done func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true,
		func(ctx context.Context) (bool, error) {
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
				return false, err
			}
			return done(), nil
		})
	if err != nil {
		t.Fatalf("%s: %v; it is %+v", o.GetName(), err, o)
	}
}
