package etcdcluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// refusingWorld is an API server that can refuse writes, and a cluster of three on volumes.
type refusingWorld struct {
	*idleWorld
	name types.NamespacedName
	now  *clocktesting.FakePassiveClock
	// refuse returns the error of a write of an object, nil if it is accepted.
	refuse func(ctx context.Context, verb, kind, name string) error
}

func newRefusingWorld(t *testing.T) *refusingWorld {
	t.Helper()
	w := &refusingWorld{
		idleWorld: newIdleWorld(t), name: types.NamespacedName{Namespace: namespace, Name: "c"},
		now:    clocktesting.NewFakePassiveClock(time.Now()),
		refuse: func(context.Context, string, string, string) error { return nil },
	}
	w.operator.Clock = w.now
	w.operator.Client = interceptor.NewClient(w.operator.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if err := w.refuse(ctx, "create", kindOf(o), o.GetName()); err != nil {
				return err
			}
			return c.Create(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := w.refuse(ctx, "patch", kindOf(o), o.GetName()); err != nil {
				return err
			}
			return c.Patch(ctx, o, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := w.refuse(ctx, "apply", "PodDisruptionBudget", ""); err != nil { // nothing else is applied
				return err
			}
			return c.Apply(ctx, o, options...)
		},
	})
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"},
		Spec: v1beta2.EtcdClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}},
	}))
	return w
}

func kindOf(o client.Object) string {
	switch o.(type) {
	case *corev1.Pod:
		return "Pod"
	case *corev1.Service:
		return "Service"
	case *networkingv1.NetworkPolicy:
		return "NetworkPolicy"
	case *corev1.PersistentVolumeClaim:
		return "PersistentVolumeClaim"
	}
	return ""
}

// step is one pass and the time until the next one, in which the kubelets work.
func (w *refusingWorld) step(t *testing.T) {
	t.Helper()
	result, err := outage.Retried(w.operator).Reconcile(t.Context(), ctrl.Request{NamespacedName: w.name})
	must(t, err)
	w.kubelet(t)
	w.now.SetTime(w.now.Now().Add(result.RequeueAfter))
}

// until steps until something holds.
func (w *refusingWorld) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 200 {
		if holds() {
			return
		}
		w.step(t)
	}
	t.Fatalf("never %s; events: %s; conditions: %+v", what, w.recordedEvents(), w.read(t).Status.Conditions)
}

func (w *refusingWorld) read(t *testing.T) *v1beta2.EtcdCluster {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), w.name, c))
	return c
}

func (w *refusingWorld) says(t *testing.T, kind string) metav1.Condition {
	t.Helper()
	if c := meta.FindStatusCondition(w.read(t).Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// serving are the names of the pods in the client Service.
func (w *refusingWorld) serving(t *testing.T) (names []string) {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods, client.MatchingLabels(resources.ServingSelector("c"))))
	for i := range pods.Items {
		names = append(names, pods.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

func (w *refusingWorld) losePods(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, w.api.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
	}
}

// warned counts the events that a write is refused which contain a text.
func (w *refusingWorld) warned(text string) (n int) {
	for _, event := range strings.Split(w.recordedEvents(), "\n") {
		if strings.Contains(event, v1beta2.ReasonWriteRefused) && strings.Contains(event, text) {
			n++
		}
	}
	return n
}

// TestPodRefused has three members lose their pods where a quota has room for two: those two come back and serve, Degraded and one
// event say who refuses the third, and it is asked for again at growing intervals, until the quota allows it.
func TestPodRefused(t *testing.T) {
	w := newRefusingWorld(t)
	all := []string{"c-0", "c-1", "c-2"}
	w.until(t, "up", func() bool {
		return slices.Equal(w.serving(t), all) && w.says(t, v1beta2.ConditionReady).Status == metav1.ConditionTrue
	})
	w.losePods(t, all...)
	var asked []time.Time
	w.refuse = func(_ context.Context, verb, kind, name string) error {
		if verb+kind+name != "createPodc-0" {
			return nil
		}
		asked = append(asked, w.now.Now())
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name, errors.New("exceeded quota: q"))
	}
	w.until(t, "served by two", func() bool { return slices.Equal(w.serving(t), all[1:]) })
	const words = `the API server refuses to create Pod c-0: pods "c-0" is forbidden: exceeded quota: q`
	for began := w.now.Now(); w.now.Now().Before(began.Add(5 * time.Minute)); {
		w.step(t)
		if got := w.says(t, v1beta2.ConditionDegraded); got.Status != metav1.ConditionTrue || !strings.Contains(got.Message, words) {
			t.Fatalf("Degraded is %+v", got)
		}
		if got := w.says(t, v1beta2.ConditionAvailable); got.Status != metav1.ConditionTrue {
			t.Fatalf("Available is %+v", got)
		}
	}
	if n := w.warned(words); n != 1 {
		t.Errorf("%d events say so: %s", n, w.recordedEvents())
	}
	for i := range asked[1:] {
		if pause, least := asked[i+1].Sub(asked[i]), min(2*time.Second<<i, 30*time.Second); pause < least || pause > 31*time.Second {
			t.Errorf("refusal %d is followed by a pause of %s, want at least %s", i, pause, least)
		}
	}
	if len(asked) < 10 {
		t.Errorf("it is asked for %d times in five minutes", len(asked))
	}
	w.refuse = func(context.Context, string, string, string) error { return nil }
	allowed := w.now.Now()
	w.until(t, "healed", func() bool { return slices.Equal(w.serving(t), all) })
	if took := w.now.Now().Sub(allowed); took > 31*time.Second {
		t.Errorf("it is healed after %s", took)
	}
	w.until(t, "ready", func() bool { return w.says(t, v1beta2.ConditionReady).Status == metav1.ConditionTrue })
}

// TestBudgetRefused has a webhook refuse the PodDisruptionBudget of a new cluster: its members serve all the same.
func TestBudgetRefused(t *testing.T) {
	w := newRefusingWorld(t)
	w.refuse = func(_ context.Context, verb, _, _ string) error {
		if verb != "apply" {
			return nil
		}
		return apierrors.NewBadRequest(`admission webhook "no-budgets" denied the request: no`)
	}
	w.until(t, "served", func() bool { return len(w.serving(t)) == 3 })
	w.until(t, "told", func() bool {
		got := w.says(t, v1beta2.ConditionDegraded)
		return got.Reason == v1beta2.ReasonWriteRefused &&
			strings.Contains(got.Message, `the API server refuses to apply PodDisruptionBudget: admission webhook "no-budgets" denied the request`)
	})
}

// TestServiceRefused has the webhook for Services not be there: the members are looked after, and it is not called in every pass.
func TestServiceRefused(t *testing.T) {
	w := newRefusingWorld(t)
	called := 0
	w.refuse = func(_ context.Context, _, kind, _ string) error {
		if kind != "Service" {
			return nil
		}
		called++
		return apierrors.NewInternalError(errors.New(`failed calling webhook "services": connection refused`))
	}
	began := w.now.Now()
	w.until(t, "up", func() bool { return len(w.serving(t)) == 3 })
	if got := w.says(t, v1beta2.ConditionDegraded); got.Reason != v1beta2.ReasonInvalidService {
		t.Errorf("Degraded is %+v", got)
	}
	if most := 2 * (1 + int(w.now.Now().Sub(began)/(2*time.Second))); called > most {
		t.Errorf("within %s it is called %d times", w.now.Now().Sub(began), called)
	}
}

// TestRolesNotReadYet has an API server come back that knows no roles for its first seconds: what it refuses until then is done soon
// after, and nobody is told of it.
func TestRolesNotReadYet(t *testing.T) {
	w := newRefusingWorld(t)
	all := []string{"c-0", "c-1", "c-2"}
	w.until(t, "up", func() bool {
		return slices.Equal(w.serving(t), all) && w.says(t, v1beta2.ConditionReady).Status == metav1.ConditionTrue
	})
	w.losePods(t, all...)
	refused, back := 0, w.now.Now()
	w.refuse = func(_ context.Context, verb, kind, name string) error {
		switch since := w.now.Now().Sub(back); {
		case verb+kind != "createPod":
			return nil
		case refused == 0:
			refused++
			return apierrors.NewServiceUnavailable("starting")
		case since > 4*time.Second:
			return nil
		}
		refused++
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name,
			errors.New(`User "operator" cannot create resource "pods" in API group "" in the namespace "ns"`))
	}
	w.until(t, "asked again", func() bool {
		pods := &corev1.PodList{}
		must(t, w.api.List(t.Context(), pods, client.InNamespace(namespace)))
		return len(pods.Items) == len(all)
	})
	if late := w.now.Now().Sub(back); late > 6*time.Second || refused < 3 {
		t.Errorf("the pods are there after %s and %d refusals", late, refused)
	}
	w.until(t, "ready", func() bool { return w.says(t, v1beta2.ConditionReady).Status == metav1.ConditionTrue })
	if n := w.warned(""); n != 0 {
		t.Errorf("%d events tell of it: %s", n, w.recordedEvents())
	}
}
