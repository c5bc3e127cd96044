package etcdbackup_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdbackup"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

var must, await = controllertest.Must, controllertest.Await

// backups is an API server, a clock that the test sets, and an operator that is started anew for every single step. The
// test plays the kubelet.
type backups struct {
	controllertest.Kubelet
	// operator is the operator's own client, with its role and no other.
	operator  client.WithWatch
	clock     *clocktesting.FakePassiveClock
	recorder  *events.FakeRecorder
	namespace string
}

// newBackups gives each test a namespace of its own, which enforces the restricted Pod Security Standard.
func newBackups(t *testing.T, config *rest.Config, admin client.Client, namespace string) *backups {
	t.Helper()
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}))
	operator, err := client.NewWithWatch(controllertest.AsOperator(config), client.Options{Scheme: admin.Scheme()})
	must(t, err)
	now := metav1.Now().Truncate(time.Second).Add(time.Minute)
	return &backups{
		controllertest.Kubelet{Client: admin}, operator, clocktesting.NewFakePassiveClock(now), events.NewFakeRecorder(1000), namespace,
	}
}

// step lets a new operator take one step, with a client that may fail.
func (w *backups) step(t *testing.T, name string, c client.Client) (ctrl.Result, error) {
	t.Helper()
	r := &etcdbackup.Reconciler{
		Client: c, Live: c, Recorder: w.recorder, Clock: w.clock, OperatorImage: "operator:test",
		Reservations: controllertest.Keeper(controllertest.Ours, c, w.recorder, w.clock),
	}
	return r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: name}})
}

// settle goes on until there is nothing to do before a second is over.
func (w *backups) settle(t *testing.T, name string) ctrl.Result {
	t.Helper()
	const limit = 50
	for range limit {
		result, err := w.step(t, name, w.operator)
		must(t, err)
		if result.RequeueAfter == 0 || result.RequeueAfter >= time.Second {
			return result
		}
	}
	t.Fatalf("%s does not settle: %+v", name, w.read(t, name).Status)
	return ctrl.Result{}
}

// later sets the clock forward.
func (w *backups) later(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// backup creates an EtcdBackup of an etcd that is none of this operator's, in a folder of its own.
func (w *backups) backup(t *testing.T, name string, change func(*v1beta2.EtcdBackupSpec)) *v1beta2.EtcdBackup {
	t.Helper()
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	b.Spec = v1beta2.EtcdBackupSpec{
		EtcdEndpoints: []string{"http://etcd:2379"},
		Storage:       &v1beta2.Storage{URL: "s3://bucket/" + w.namespace + "/" + name, CredentialsSecretRef: v1beta2.SecretRef{Name: "keys"}},
	}
	change(&b.Spec)
	must(t, w.Create(t.Context(), b))
	return b
}

func asItIs(*v1beta2.EtcdBackupSpec) {}

func hourly(s *v1beta2.EtcdBackupSpec) {
	s.BackupPolicy = &v1beta2.BackupPolicy{IntervalSeconds: 3600}
}

func (w *backups) read(t *testing.T, name string) *v1beta2.EtcdBackup {
	t.Helper()
	b := &v1beta2.EtcdBackup{}
	must(t, w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, b))
	return b
}

func (w *backups) edit(t *testing.T, name string, change func(*v1beta2.EtcdBackupSpec)) {
	t.Helper()
	b := w.read(t, name)
	change(&b.Spec)
	must(t, w.Update(t.Context(), b))
}

// pods are those of an EtcdBackup.
func (w *backups) pods(t *testing.T, name string) []corev1.Pod {
	t.Helper()
	list := &corev1.PodList{}
	must(t, w.List(t.Context(), list, client.InNamespace(w.namespace), client.MatchingLabels{resources.LabelBackup: name}))
	return list.Items
}

// pod is the only one of an EtcdBackup.
func (w *backups) pod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	pods := w.pods(t, name)
	if len(pods) != 1 {
		t.Fatalf("%s has %d pods, want one; %+v", name, len(pods), w.read(t, name).Status)
	}
	return &pods[0]
}

// taken is the result of a good backup.
func (w *backups) taken(revision int64, total int32) task.Result {
	return task.Result{Total: total, Snapshot: &v1beta2.SnapshotStatus{
		Name: fmt.Sprintf("%d.db.zst", revision), URL: fmt.Sprintf("s3://bucket/%d.db.zst", revision), Revision: revision,
		EtcdVersion: "3.6.16", SizeBytes: 2 << 20, StoredSizeBytes: 1 << 20, SHA256: "ab", CreationTime: metav1.NewTime(w.clock.Now()),
	}}
}

// lineages are those of a cluster that was recreated.
func lineages(at metav1.Time) []v1beta2.BackupLineage {
	return []v1beta2.BackupLineage{
		{ClusterID: "c0ffee", Cluster: "ns/c", Count: 1, Name: "7.db.zst", Revision: 7, CreationTime: at},
		{ClusterID: "beef", Cluster: "ns/c", Count: 2, Name: "6.db.zst", Revision: 6, CreationTime: at},
	}
}

func refusedBy(reason string, terminal bool) task.Result {
	return task.Result{Failure: &failure.Problem{Reason: reason, Message: "it is said what to do", Terminal: terminal}}
}

// says wants a condition of that status, reason and message.
func (w *backups) says(t *testing.T, name, kind string, value metav1.ConditionStatus, reason, message string) {
	t.Helper()
	c := meta.FindStatusCondition(w.read(t, name).Status.Conditions, kind)
	if c == nil || c.Status != value || c.Reason != reason || !strings.Contains(c.Message, message) {
		t.Fatalf("%s of %s is %+v, want %s, %s, %q", kind, name, c, value, reason, message)
	}
}

// recordedEvents are the events so far, in one text.
func (w *backups) recordedEvents() string {
	var all strings.Builder
	for len(w.recorder.Events) > 0 {
		all.WriteString(<-w.recorder.Events + "\n")
	}
	return all.String()
}

// gone reports whether the EtcdBackup is.
func (w *backups) gone(ctx context.Context, name string) bool {
	err := w.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, &v1beta2.EtcdBackup{})
	return client.IgnoreNotFound(err) == nil && err != nil
}
