package etcdrestore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrestore"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

const namespace = "test"

var must, await = controllertest.Must, controllertest.Await

// stage is a real API server on which a test plays the kubelet, the agents and the EtcdCluster's controller. The operator
// takes one step at a time under its own role, and is another process in each: nothing is in its memory.
type stage struct {
	controllertest.Kubelet
	operator client.Client
	clock    *clocktesting.FakePassiveClock
	events   []string
}

func newStage(t *testing.T) (*stage, *rest.Config) {
	t.Helper()
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}))
	return &stage{
		Kubelet: controllertest.Kubelet{Client: admin}, operator: testenv.Client(t, controllertest.AsOperator(config)),
		clock: clocktesting.NewFakePassiveClock(time.Now()),
	}, config
}

// step lets the operator take one step.
func (s *stage) step(t *testing.T, name string) ctrl.Result {
	t.Helper()
	recorder := events.NewFakeRecorder(100)
	result, err := (&etcdrestore.Reconciler{
		Client: s.operator, Live: s.operator, Recorder: recorder, Clock: s.clock, OperatorImage: "operator:test",
		Reservations: controllertest.Keeper(controllertest.Ours, s.operator, recorder, s.clock),
	}).Reconcile(t.Context(), ctrl.Request{NamespacedName: key(name)})
	must(t, err)
	for range len(recorder.Events) {
		s.events = append(s.events, <-recorder.Events)
	}
	return result
}

// until lets the operator take steps until the restore says what is expected.
func (s *stage) until(t *testing.T, name, what string, holds func(*v1beta2.EtcdRestore) bool) *v1beta2.EtcdRestore {
	t.Helper()
	for range 20 {
		s.step(t, name)
		if o := s.restore(t, name); holds(o) {
			return o
		}
	}
	t.Fatalf("%s does not come to %s; it is %s", name, what, pretty(s.restore(t, name)))
	return nil
}

func (s *stage) untilPhase(t *testing.T, name string, phase v1beta2.RestorePhase) *v1beta2.EtcdRestore {
	t.Helper()
	return s.until(t, name, string(phase), func(o *v1beta2.EtcdRestore) bool { return o.Status.Phase == phase })
}

// untilSays waits for a reason of the Progressing condition.
func (s *stage) untilSays(t *testing.T, name, reason string) *v1beta2.EtcdRestore {
	t.Helper()
	return s.until(t, name, reason, func(o *v1beta2.EtcdRestore) bool {
		c := meta.FindStatusCondition(o.Status.Conditions, v1beta2.ConditionProgressing)
		return c != nil && c.Reason == reason
	})
}

// untilPod waits for the pod of an attempt and gives its task.
func (s *stage) untilPod(t *testing.T, name string) (*corev1.Pod, task.Task) {
	t.Helper()
	pod := &corev1.Pod{}
	s.until(t, name, "a pod", func(o *v1beta2.EtcdRestore) bool {
		return o.Status.Run != nil && o.Status.Run.RetryTime == nil && s.Get(t.Context(), key(o.Status.Run.Pod), pod) == nil
	})
	return pod, controllertest.TaskOf(t, pod)
}

// verified plays an agent that finds the snapshot good.
func (s *stage) verified(t *testing.T, name string) {
	t.Helper()
	pod, _ := s.untilPod(t, name)
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("snap.db")})
	s.until(t, name, "a snapshot", func(o *v1beta2.EtcdRestore) bool { return o.Status.Snapshot != nil })
}

// fails plays an agent that fails for good.
func (s *stage) fails(t *testing.T, name, reason string) {
	t.Helper()
	pod, _ := s.untilPod(t, name)
	s.Ends(t, pod, task.Result{Failure: &failure.Problem{Reason: reason, Message: "it is " + reason, Terminal: true}})
}

func (s *stage) restore(t *testing.T, name string) *v1beta2.EtcdRestore {
	t.Helper()
	o := &v1beta2.EtcdRestore{}
	must(t, s.Get(t.Context(), key(name), o))
	return o
}

func (s *stage) cluster(t *testing.T, name string) *v1beta2.EtcdCluster {
	t.Helper()
	o := &v1beta2.EtcdCluster{}
	must(t, s.Get(t.Context(), key(name), o))
	return o
}

// warned reports whether a warning says so.
func (s *stage) warned(message string) bool {
	return slices.ContainsFunc(s.events, func(e string) bool {
		return strings.HasPrefix(e, corev1.EventTypeWarning) && strings.Contains(e, message)
	})
}

// running makes an EtcdCluster that has been up, and answers or does not.
func (s *stage) running(t *testing.T, name string, answers bool) *v1beta2.EtcdCluster {
	t.Helper()
	c := s.runningWith(t, name, v1beta2.EtcdClusterSpec{Size: 3, Version: "3.6.4"})
	if answers {
		return c
	}
	c.Status.Members.Ready = nil
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: v1beta2.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonHasQuorum,
	})
	must(t, s.Status().Update(t.Context(), c))
	return c
}

// runningWith makes an EtcdCluster that has been up and answers.
func (s *stage) runningWith(t *testing.T, name string, spec v1beta2.EtcdClusterSpec) *v1beta2.EtcdCluster {
	t.Helper()
	c := &v1beta2.EtcdCluster{ObjectMeta: object(name), Spec: spec}
	must(t, s.Create(t.Context(), c))
	c.Status.Members.Ready = []string{name + "-0"}
	c.Status.ClusterID = "00c0ffee00c0ffee"
	c.Status.MemberStatuses = []v1beta2.MemberStatus{
		{Name: name + "-0", Role: v1beta2.MemberRoleVoter}, {Name: name + "-1", Role: v1beta2.MemberRoleNone},
	}
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: v1beta2.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonHasQuorum,
	})
	must(t, s.Status().Update(t.Context(), c))
	return c
}

// record plays the EtcdCluster's controller.
func (s *stage) record(t *testing.T, cluster string, r v1beta2.RestoreRecord, completed bool) {
	t.Helper()
	c := s.cluster(t, cluster)
	r.StartTime = metav1.NewTime(s.clock.Now())
	if completed {
		r.CompletionTime = &r.StartTime
	}
	c.Status.Restores = slices.Insert(slices.DeleteFunc(c.Status.Restores, func(old v1beta2.RestoreRecord) bool {
		return old.UID == r.UID
	}), 0, r)
	must(t, s.Status().Update(t.Context(), c))
}

// from makes an EtcdRestore of a bucket. It waits for no more than an hour from its creation, which the API server's clock tells.
func (s *stage) from(t *testing.T, name, cluster string, change func(*v1beta2.EtcdRestoreSpec)) *v1beta2.EtcdRestore {
	t.Helper()
	o := &v1beta2.EtcdRestore{ObjectMeta: object(name)}
	o.Spec.EtcdCluster.Name = cluster
	o.Spec.Storage = &v1beta2.Storage{URL: "s3://bucket/prefix", CredentialsSecretRef: v1beta2.SecretRef{Name: "keys"}}
	if change != nil {
		change(&o.Spec)
	}
	must(t, s.Create(t.Context(), o))
	s.clock.SetTime(time.Now())
	return o
}

func object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: name} }

func pretty(o *v1beta2.EtcdRestore) string {
	text, err := json.MarshalIndent(o.Status, "", "  ")
	return fmt.Sprint(string(text), err)
}

// podsOf lists the pods of a restore.
func (s *stage) podsOf(ctx context.Context, t *testing.T, o *v1beta2.EtcdRestore) []corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, s.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{resources.LabelRestore: o.Name}))
	return pods.Items
}
