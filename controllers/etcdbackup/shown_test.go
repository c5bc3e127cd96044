package etcdbackup_test

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdbackup"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// backupProgress asks the pod how far it is.
func backupProgress(t *testing.T, w *backups) {
	ip := controllertest.Loopback(200)
	controllertest.ServeProgress(t, ip, task.Progress{Step: task.StepSaving, Bytes: 300 << 20})
	w.backup(t, "b", asItIs)
	w.settle(t, "b")
	w.Runs(t, w.pod(t, "b"), ip)
	await(t, "an answer", func() error {
		if result := w.settle(t, "b"); result.RequeueAfter < 3*time.Second {
			t.Errorf("it is asked again in %s", result.RequeueAfter)
		}
		if run := w.read(t, "b").Status.Run; run.Bytes == 0 {
			return fmt.Errorf("the run is %+v", run)
		}
		return nil
	})
	w.says(t, "b", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonBackingUp, "Saving, 300Mi so far")
	version := w.read(t, "b").ResourceVersion
	w.settle(t, "b")
	if b := w.read(t, "b"); b.ResourceVersion != version || b.Status.Run.Bytes != 300<<20 {
		t.Errorf("nothing is new, and written: %+v", b.Status.Run)
	}
}

// backupSilent has pods that take connections and say nothing, more than are asked at the same time. The worker goes on.
func backupSilent(t *testing.T, w *backups) {
	const pods = 40
	ip := controllertest.Loopback(202)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("%s:%d", ip, task.ProgressPort))
	must(t, err)
	defer func() { must(t, l.Close()) }()
	for i := range pods {
		name := fmt.Sprintf("b-%d", i)
		w.backup(t, name, asItIs)
		w.settle(t, name)
		w.Runs(t, w.pod(t, name), ip)
	}
	began := time.Now()
	for i := range pods {
		w.settle(t, fmt.Sprintf("b-%d", i))
	}
	if took := time.Since(began); took > pods*time.Second/2 {
		t.Errorf("a pass by %d pods took %s: each was waited for", pods, took)
	}
	w.says(t, "b-0", v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonBackingUp, "")
}

// backupMetrics wants metrics of an EtcdBackup as long as there is one.
func backupMetrics(t *testing.T, w *backups) {
	w.backup(t, "b", hourly)
	w.settle(t, "b")
	for name, value := range map[string]float64{
		"last_success_timestamp_seconds": 0, "last_verified_timestamp_seconds": 0, "attempts_total": 0, "snapshots": 0, "stale": 0,
		"interval_seconds": 3600, "created_timestamp_seconds": float64(w.read(t, "b").CreationTimestamp.Unix()),
	} {
		if got, found := controllertest.Metrics(t, w.namespace)["etcd_operator_backup_"+name]; !found || got != value {
			t.Errorf("before the first attempt has ended %s is %v (%v), want %v", name, got, found, value)
		}
	}
	w.Ends(t, w.pod(t, "b"), refusedBy(v1beta2.ReasonStorageFull, false))
	w.settle(t, "b")
	w.later(10 * time.Second)
	w.settle(t, "b")
	w.later(30 * time.Second)
	w.Ends(t, w.pod(t, "b"), w.taken(1, 4))
	w.settle(t, "b")
	want := map[string]float64{
		"last_success_timestamp_seconds": float64(w.clock.Now().Unix()), "last_attempt_successful": 1, "last_duration_seconds": 30,
		"last_size_bytes": 1 << 20, "snapshots": 4, "failures_total": 1, "attempts_total": 2,
	}
	got := controllertest.Metrics(t, w.namespace)
	for name, value := range want {
		if got["etcd_operator_backup_"+name] != value {
			t.Errorf("%s is %v, want %v", name, got["etcd_operator_backup_"+name], value)
		}
	}
	w.remove(t, "b")
	w.settle(t, "b")
	if left := controllertest.Metrics(t, w.namespace); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// backupWoken runs the operator as it is shipped, with its caches: what it waits for wakes it.
func backupWoken(t *testing.T, config *rest.Config, w *backups) {
	mgr := controllertest.NewManager(t, config, w.namespace)
	must(t, (&etcdbackup.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"),
		Reservations: controllertest.KeeperOf(mgr), Clock: clock.RealClock{}, OperatorImage: "operator:test",
	}).SetupWithManager(mgr))
	controllertest.Start(t, mgr)

	w.backup(t, "b", func(s *v1beta2.EtcdBackupSpec) {
		deleteObjects(s)
		s.EtcdEndpoints, s.EtcdCluster = nil, &v1beta2.EtcdClusterRef{Name: "c"}
	})
	await(t, "the cluster to be missed", func() error { return w.progressing(t, v1beta2.ReasonClusterMissing) })
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "c"}}
	c.Spec.Size = 1
	must(t, w.Create(t.Context(), c))
	c.Status.ClusterID = "abc"
	c.Status.MemberStatuses = []v1beta2.MemberStatus{{Name: "c-0", Role: v1beta2.MemberRoleVoter}}
	must(t, w.Status().Update(t.Context(), c))
	w.finishes(t, w.taken(1, 1))
	await(t, "the backup", func() error { return w.progressing(t, v1beta2.ReasonCompleted) })
	w.remove(t, "b")
	w.finishes(t, task.Result{})
	await(t, "the EtcdBackup to go", func() error {
		if !w.gone(t.Context(), "b") {
			return errors.New("it is there")
		}
		return nil
	})
}

// finishes waits for a pod that has not ended, and ends it.
func (w *backups) finishes(t *testing.T, result task.Result) {
	t.Helper()
	await(t, "a pod", func() error {
		for _, pod := range w.pods(t, "b") {
			if pod.Status.Phase == corev1.PodPending {
				w.Ends(t, &pod, result)
				return nil
			}
		}
		return errors.New("there is none")
	})
}

func (w *backups) progressing(t *testing.T, reason string) error {
	t.Helper()
	for _, c := range w.read(t, "b").Status.Conditions {
		if c.Type == v1beta2.ConditionProgressing && c.Reason == reason {
			return nil
		}
	}
	return fmt.Errorf("status %+v", w.read(t, "b").Status)
}
