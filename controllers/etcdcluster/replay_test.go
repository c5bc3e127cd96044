package etcdcluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdcluster"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestLogObserved asks for what is observed of a cluster on a real API server, with the operator's own rights: each value of the
// annotation gives one line, from which the same is decided, and in which nothing is of what the spec holds.
func TestLogObserved(t *testing.T) {
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	own := testenv.Client(t, controllertest.AsOperator(config))
	recorder := events.NewFakeRecorder(1000)
	pool := etcd.NewPool()
	t.Cleanup(pool.Close)
	a := &asked{api: admin, recorder: recorder, operator: &etcdcluster.Reconciler{
		Client: own, Live: own, Recorder: recorder, Etcd: pool, Clock: clock.RealClock{}, OperatorImage: "operator:test",
		Reservations: controllertest.Keeper(controllertest.Ours, own, recorder, clock.RealClock{}),
	}}
	must(t, admin.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.name().Name},
		Spec: v1beta2.EtcdClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{
			Annotations: map[string]string{"token": secret},
			Template: &runtime.RawExtension{Raw: []byte(
				`{"spec":{"containers":[{"name":"sidecar","image":"i","env":[{"name":"PASSWORD","value":"` + secret + `"}]}]}}`)},
		}},
	}))

	a.expect(t, "nothing is asked for", "")
	a.annotate(t, "1")
	first := a.expect(t, "a value", v1beta2.ReasonObservationLogged)
	a.annotate(t, "2")
	a.expect(t, "another value", v1beta2.ReasonObservationLogged)
	a.annotate(t, "")
	a.expect(t, "an empty value", v1beta2.ReasonObservationLogged)
	a.level = zapcore.ErrorLevel
	a.annotate(t, "3")
	a.expect(t, "a log of errors", v1beta2.ReasonObservationNotLogged)

	if c := first.Observed.Cluster; c.Name != a.name().Name || c.AcceptedSpec == "" || len(first.Observed.Pods) != 3 {
		t.Errorf("the observation is %+v", first.Observed)
	}
}

// secret is in the spec.
const secret = "hunter2"

// asked is a cluster whose observation is asked for.
type asked struct {
	api      client.Client
	operator *etcdcluster.Reconciler
	recorder *events.FakeRecorder
	level    zapcore.Level
}

func (*asked) name() types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: "asked"}
}

func (a *asked) annotate(t *testing.T, value string) {
	t.Helper()
	cluster := &v1beta2.EtcdCluster{}
	must(t, a.api.Get(t.Context(), a.name(), cluster))
	cluster.Annotations = map[string]string{v1beta2.AnnotationLogObserved: value}
	must(t, a.api.Update(t.Context(), cluster))
}

// expect has the operator look at the cluster some times, and wants one event of that reason, or none if it is empty, and one line
// if the event says so, which it returns.
func (a *asked) expect(t *testing.T, when, reason string) replay.Pass {
	t.Helper()
	var text bytes.Buffer
	const passes = 8
	for range passes {
		_, err := a.operator.Reconcile(logTo(t.Context(), &text, a.level), ctrl.Request{NamespacedName: a.name()})
		must(t, err)
	}
	if recorded := a.recordedEvents(); strings.Join(recorded, " ") != reason {
		t.Errorf("%s: events tell %q, not %q", when, recorded, reason)
	}
	if strings.Contains(text.String(), secret) {
		t.Errorf("%s: the log holds what the spec does: %s", when, text.String())
	}
	found := mustRead(t, text.Bytes())
	if reason != v1beta2.ReasonObservationLogged {
		if len(found) > 0 {
			t.Errorf("%s: logged: %s", when, text.String())
		}
		return replay.Pass{}
	}
	if len(found) != 1 {
		t.Fatalf("%s: %d lines in\n%s", when, len(found), text.String())
	}
	if got := plan.Describe(plan.Next(found[0].Observed)); got != found[0].Decided {
		t.Errorf("%s: it was decided %+v, and on what was logged it is %+v", when, found[0].Decided, got)
	}
	return found[0]
}

// recordedEvents are the reasons of the events about observations since it was last asked.
func (a *asked) recordedEvents() []string {
	var reasons []string
	for len(a.recorder.Events) > 0 {
		for word := range strings.FieldsSeq(<-a.recorder.Events) {
			if word == v1beta2.ReasonObservationLogged || word == v1beta2.ReasonObservationNotLogged {
				reasons = append(reasons, word)
			}
		}
	}
	return reasons
}

// logTo writes the operator's log as it is shipped.
func logTo(ctx context.Context, to *bytes.Buffer, level zapcore.Level) context.Context {
	return log.IntoContext(ctx, zap.New(zap.WriteTo(to), zap.Level(level)))
}

// logsObserved is woken by the annotation, and may tell of it.
func (e *env) logsObserved(t *testing.T) {
	object := e.read(t, "boot")
	object.Annotations = map[string]string{v1beta2.AnnotationLogObserved: "now"}
	must(t, e.Update(t.Context(), object))
	await(t, "an event", func() error {
		list := &eventsv1.EventList{}
		must(t, e.List(t.Context(), list, client.InNamespace(namespace)))
		for _, event := range list.Items {
			if event.Regarding.Name == "boot" && event.Reason == v1beta2.ReasonObservationLogged {
				return nil
			}
		}
		return fmt.Errorf("there are %d events, and none of it", len(list.Items))
	})
}

// TestReplay has the operator reconcile a cluster that is to shrink: on what it has logged before each step the same is decided.
func TestReplay(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "example"}
	w.cluster(t, name)
	rules := map[string]bool{}
	for i := range 60 {
		cluster := &v1beta2.EtcdCluster{}
		must(t, w.api.Get(t.Context(), name, cluster))
		cluster.Annotations = map[string]string{v1beta2.AnnotationLogObserved: string(rune('a' + i))}
		if len(cluster.Status.Members.Ready) == 3 && cluster.Status.Phase == v1beta2.ClusterPhaseRunning {
			cluster.Spec.Size = 1
		}
		must(t, w.api.Update(t.Context(), cluster))
		var text bytes.Buffer
		_, err := w.operator.Reconcile(logTo(t.Context(), &text, zapcore.InfoLevel), ctrl.Request{NamespacedName: name})
		must(t, err)
		w.kubelet(t)
		for _, found := range mustRead(t, text.Bytes()) {
			e := plan.Explain(found.Observed)
			if got := plan.Describe(e.Action); got != found.Decided {
				t.Fatalf("it was decided %+v, and is now %+v", found.Decided, got)
			}
			rules[e.Rule+" "+e.Guard] = true
			if e.Guard == "blockEvictions" {
				t.Logf("%s", text.String())
			}
		}
	}
	if want := "scaleDown blockEvictions"; !rules[want] {
		t.Errorf("of rules and guards there are %q, and not %q", slices.Sorted(maps.Keys(rules)), want)
	}
}

func mustRead(t *testing.T, text []byte) []replay.Pass {
	t.Helper()
	all, err := replay.Read(text)
	if errors.Is(err, replay.ErrNone) {
		return nil
	}
	must(t, err)
	return all
}
