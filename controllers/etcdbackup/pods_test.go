package etcdbackup_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// backupForeignPod has someone else hold the name of the first attempt's pod.
func backupForeignPod(t *testing.T, w *backups) {
	w.backup(t, "b", asItIs)
	for w.read(t, "b").Status.Run == nil {
		_, err := w.step(t, "b", w.operator)
		must(t, err)
	}
	foreign := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.read(t, "b").Status.Run.Pod}}
	foreign.Spec = w.podSpec(t)
	must(t, w.Create(t.Context(), foreign))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonNameTaken, foreign.Name+" belongs to no controller")
	w.later(10 * time.Second)
	w.settle(t, "b") // another attempt has another name
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "")
	must(t, w.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign))
}

// podSpec is one that the namespace takes.
func (w *backups) podSpec(t *testing.T) corev1.PodSpec {
	t.Helper()
	w.backup(t, "other", asItIs)
	w.settle(t, "other")
	spec := w.pod(t, "other").Spec
	return spec
}

// backupLostPod has a pod die silently, and one be deleted.
func backupLostPod(t *testing.T, w *backups) {
	w.backup(t, "b", asItIs)
	w.settle(t, "b")
	pod := w.pod(t, "b")
	pod.Status.Phase, pod.Status.Reason, pod.Status.Message = corev1.PodFailed, "Evicted", "the node was low on memory"
	must(t, w.Status().Update(t.Context(), pod))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonAgentLost, "low on memory")
	w.later(10 * time.Second)
	w.settle(t, "b")
	must(t, w.Delete(t.Context(), w.pod(t, "b")))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonAgentLost, "attempt 2: the pod was deleted")
	w.later(20 * time.Second)
	w.settle(t, "b")
	w.Ends(t, w.pod(t, "b"), w.taken(1, 1))
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionTrue, v1beta2.ReasonBackedUp, "")
}

// backupClockBack sets the clock back by hours under a pod that never ends: its time is up no later for that.
func backupClockBack(t *testing.T, w *backups) {
	w.backup(t, "b", asItIs)
	w.settle(t, "b")
	w.Runs(t, w.pod(t, "b"), "127.0.0.1")
	w.settle(t, "b")
	w.later(-5 * time.Hour)
	w.settle(t, "b")
	if run := w.read(t, "b").Status.Run; run.Attempt != 1 || !run.AttemptStartTime.Time.Equal(w.clock.Now()) {
		t.Fatalf("at %s the run is %+v", w.clock.Now(), run)
	}
	w.later(time.Hour + 8*time.Minute)
	w.settle(t, "b")
	w.says(t, "b", v1beta2.ConditionBackedUp, metav1.ConditionFalse, v1beta2.ReasonTimeout, "did not end after 1h0m0s")
}
