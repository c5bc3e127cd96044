package etcdrestore_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdbackup"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrestore"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// podRefused has pods that Kubernetes does not take count as tries that failed: later and later, and not forever.
func (s *stage) podRefused(t *testing.T) {
	before := s.running(t, "spared", true)
	for name, c := range map[string]struct {
		pod  v1beta2.AgentPodPolicy
		says string
	}{
		"invalid":   {v1beta2.AgentPodPolicy{NodeSelector: map[string]string{"not a label": "x"}}, "nodeSelector"},
		"forbidden": {v1beta2.AgentPodPolicy{PriorityClassName: "nobody-made-it"}, "nobody-made-it"},
	} {
		s.from(t, name, "spared", func(spec *v1beta2.EtcdRestoreSpec) { spec.Pod = &c.pod })
		for attempt := range int32(6) {
			o := s.until(t, name, "the end of a try", func(o *v1beta2.EtcdRestore) bool {
				return o.Status.Phase == v1beta2.RestoreFailed ||
					o.Status.Run != nil && o.Status.Run.Attempt == attempt+1 && o.Status.Run.RetryTime != nil
			})
			s.says(t, o, v1beta2.ReasonPodCannotStart, c.says)
			if attempt == 5 {
				break
			}
			if result := s.step(t, name); result.RequeueAfter < 9*time.Second {
				t.Errorf("%s: after try %d it looks again in %s", name, attempt+1, result.RequeueAfter)
			}
			s.clock.SetTime(s.clock.Now().Add(10 * time.Minute))
		}
		o := s.untilPhase(t, name, v1beta2.RestoreFailed)
		s.says(t, o, v1beta2.ReasonPodCannotStart, "nothing was done to the cluster")
		if !s.warned(c.says) {
			t.Errorf("the events are %q", s.events)
		}
	}
	if now := s.cluster(t, "spared"); now.ResourceVersion != before.ResourceVersion {
		t.Errorf("the cluster was touched: %+v", now)
	}
}

// TestReservedLabels is about objects that are older than the schema which refuses such labels: no API server takes them any
// more.
func TestReservedLabels(t *testing.T) {
	pod := &v1beta2.AgentPodPolicy{Labels: map[string]string{"etcd_cluster": "x"}}
	old := metav1.ObjectMeta{Namespace: namespace, Name: "old", UID: "0123456789", Finalizers: []string{"x"}}
	storage := &v1beta2.Storage{URL: "s3://bucket/prefix"}
	backup := &v1beta2.EtcdBackup{ObjectMeta: old}
	backup.Spec = v1beta2.EtcdBackupSpec{EtcdEndpoints: []string{"http://e:2379"}, Storage: storage, Pod: pod}
	restore := &v1beta2.EtcdRestore{ObjectMeta: old}
	restore.Spec.EtcdCluster.Name, restore.Spec.Storage, restore.Spec.Pod = "c", storage, pod
	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}}
	c := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).WithObjects(backup, restore, cluster).
		WithStatusSubresource(backup, restore).Build()
	recorder, now := events.NewFakeRecorder(100), clock.RealClock{}
	known := controllertest.Keeper(controllertest.Ours, c, recorder, now)
	for range 5 {
		for _, r := range []reconcile.Reconciler{
			&etcdbackup.Reconciler{Client: c, Live: c, Recorder: recorder, Clock: now, Reservations: known},
			&etcdrestore.Reconciler{Client: c, Live: c, Recorder: recorder, Clock: now, Reservations: known},
		} {
			_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key("old")})
			must(t, err)
		}
	}
	must(t, c.Get(t.Context(), key("old"), backup))
	must(t, c.Get(t.Context(), key("old"), restore))
	refused(t, backup.Status.Conditions, v1beta2.ConditionAccepted)
	refused(t, restore.Status.Conditions, v1beta2.ConditionRestored)
	pods := &corev1.PodList{}
	if must(t, c.List(t.Context(), pods)); len(pods.Items) > 0 {
		t.Errorf("it has made %s", pods.Items[0].Name)
	}
}

// refused wants a condition to name the label.
func refused(t *testing.T, conditions []metav1.Condition, kind string) {
	t.Helper()
	said := meta.FindStatusCondition(conditions, kind)
	if said == nil || said.Status != metav1.ConditionFalse || said.Reason != v1beta2.ReasonInvalidPod ||
		!strings.Contains(said.Message, "spec.pod.labels and annotations: the key etcd_cluster is the operator's own") {
		t.Errorf("it says %+v", conditions)
	}
}
