package etcdcluster

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func TestRank(t *testing.T) {
	for _, c := range []struct {
		name   string
		slow   bool
		action plan.Action
		want   int
	}{
		{"healthy", false, plan.Idle{}, resting},
		{"refused", false, plan.Blocked{}, resting},
		{"waiting", false, plan.Wait{}, normal},
		{"acted on", false, plan.SetBudget{}, ahead},
		{"hangs", true, plan.Wait{}, behind},
		{"acted on, and hangs", true, plan.SetBudget{}, behind},
	} {
		if got := rank(&pass{session: &etcd.Session{Slow: c.slow}, action: c.action}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestPodEvents hears of pods in the worst order, and works off what is due.
func TestPodEvents(t *testing.T) {
	bare := handler.EnqueueRequestsFromMapFunc(clusterOf)
	t.Run("bare", func(t *testing.T) { hearPods(t, bare) })
	t.Run("wrapped", func(t *testing.T) { hearPods(t, handler.WithLowPriorityWhenUnchanged(bare)) })
}

func hearPods(t *testing.T, owner handler.EventHandler) {
	t.Helper()
	queue := priorityqueue.New[reconcile.Request](t.Name())
	t.Cleanup(queue.ShutDown)
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(resting), After: time.Hour}, requestFor("stopped"))
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(resting)}, requestFor("idle"))
	events := podEvents(owner)
	serves := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	runs := func(p *corev1.Pod) { p.Status.Phase, p.Status.PodIP = corev1.PodRunning, "10.0.0.1" }
	restarts := func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd"}} }
	leaves := func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }
	both := func(changes ...func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			for _, change := range changes {
				change(p)
			}
		}
	}
	for _, u := range []struct {
		cluster     string
		first, then func(*corev1.Pod)
	}{
		{"stopped", both(runs, serves), runs},
		{"restarted", runs, both(runs, restarts)},
		{"started", func(*corev1.Pod) {}, runs},
		{"ready", runs, both(runs, serves)},
		{"leaving", runs, both(runs, leaves)},
	} {
		e := event.UpdateEvent{ObjectOld: podIn(u.cluster, u.first), ObjectNew: podIn(u.cluster, u.then)}
		e.ObjectNew.SetResourceVersion("2")
		events.Update(t.Context(), e, queue)
	}
	events.Delete(t.Context(), event.DeleteEvent{Object: podIn("gone", runs)}, queue)
	var order []string
	for range 7 {
		request, _ := queue.Get()
		order = append(order, request.Name)
		queue.Done(request)
	}
	if want := []string{"started", "ready", "leaving", "gone", "stopped", "idle", "restarted"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

func requestFor(cluster string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: cluster}}
}

func podIn(cluster string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: cluster + "-0", ResourceVersion: "1", Labels: map[string]string{"app": "etcd", "etcd_cluster": cluster},
	}}
	change(pod)
	return pod
}

func TestChanged(t *testing.T) {
	same := func(*corev1.Pod) {}
	for _, c := range []struct {
		name   string
		change func(*corev1.Pod)
		want   bool
	}{
		{"nothing that is kept", func(p *corev1.Pod) { p.ResourceVersion = "2" }, false},
		{"its address", func(p *corev1.Pod) { p.ResourceVersion, p.Status.PodIP = "2", "10.0.0.1" }, true},
		{"another pod of that name", func(p *corev1.Pod) { p.ResourceVersion, p.UID = "2", types.UID("b") }, true},
	} {
		old, now := podIn("c", same), podIn("c", c.change)
		if got := changed(event.UpdateEvent{ObjectOld: old, ObjectNew: now}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if old.ResourceVersion != "1" {
			t.Errorf("%s: the cache's object was written on", c.name)
		}
	}
}

// TestChangedCluster checks that a pass is not woken by the status that it has written.
func TestChangedCluster(t *testing.T) {
	old := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", ResourceVersion: "1"}}
	written := old.DeepCopy()
	written.ResourceVersion, written.Status.Phase = "2", v1beta2.ClusterPhaseRunning
	edited := written.DeepCopy()
	edited.Spec.Size = 5
	leaving := written.DeepCopy()
	leaving.DeletionTimestamp = new(metav1.Now())
	for _, c := range []struct {
		now  *v1beta2.EtcdCluster
		want bool
	}{{written, false}, {edited, true}, {leaving, true}} {
		if got := changed(event.UpdateEvent{ObjectOld: old, ObjectNew: c.now}); got != c.want {
			t.Errorf("%+v: %v, want %v", c.now, got, c.want)
		}
	}
	if old.Status.Phase != "" {
		t.Error("the cache's object was written on")
	}
}
