package etcdcluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Ranks of clusters that are due at the same time. The operator has a limited number of workers, and clusters that hang
// keep them waiting: those come last, so that they do not delay those that work.
const (
	// ahead is for a cluster that has just been acted on. It goes on before another is begun: of a thousand new ones the
	// first is healthy reconcile.Soon, and few are connected to at the same time.
	ahead = 1
	// normal is also an event's.
	normal = 0
	// resting is for a look that nothing asks for, as after the operator's start. Of two ranks the queue keeps the higher
	// one: were it higher, the bad news of a cluster that has been idle would not come last.
	resting = handler.LowPriority
	// behind is for those that hang.
	behind = resting - 1
)

// rank is a cluster's after this pass. It must be said: the queue would keep the one that the pass had.
func rank(p *pass) int {
	if p.session.Slow {
		return behind
	}
	switch p.action.(type) {
	case plan.Idle, plan.Blocked:
		return resting
	case plan.Wait:
		return normal
	default:
		return ahead
	}
}

// podEvents is a handler that ranks what it hears of pods.
func podEvents(owner handler.EventHandler) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: owner.Create, DeleteFunc: owner.Delete, GenericFunc: owner.Generic,
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent,
			q workqueue.TypedRateLimitingInterface[ctrl.Request],
		) {
			if ranked, ok := q.(priorityqueue.PriorityQueue[ctrl.Request]); ok && fails(e) {
				q = unhurried{ranked}
			}
			owner.Update(ctx, e, q)
		},
	}
}

// fails reports whether the news is of a pod that does not serve, or no longer: its member may well hang. A pod that makes
// its way up or leaves is another matter.
func fails(e event.UpdateEvent) bool {
	old, isPod := e.ObjectOld.(*corev1.Pod)
	pod, arePods := e.ObjectNew.(*corev1.Pod)
	return isPod && arePods && !podOf(pod).Ready &&
		old.Status.Phase == pod.Status.Phase && old.Status.PodIP == pod.Status.PodIP &&
		old.DeletionTimestamp.Equal(pod.DeletionTimestamp)
}

// unhurried puts behind what is added to it. Handlers add in either way, by themselves or through controller-runtime's
// wrappers.
type unhurried struct {
	priorityqueue.PriorityQueue[ctrl.Request]
}

// Add implements workqueue.TypedInterface.
func (u unhurried) Add(item ctrl.Request) { u.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddWithOpts implements priorityqueue.PriorityQueue.
func (u unhurried) AddWithOpts(o priorityqueue.AddOpts, items ...ctrl.Request) {
	o.Priority = new(behind)
	u.PriorityQueue.AddWithOpts(o, items...)
}

// changed reports whether an update changes anything that the caches keep, apart from what a pass itself has written: it
// knows when to look again, and its event would put the cluster before others that wait.
func changed(e event.UpdateEvent) bool {
	old, isObject := e.ObjectOld.DeepCopyObject().(client.Object)
	if !isObject {
		return true
	}
	old.SetResourceVersion(e.ObjectNew.GetResourceVersion())
	cluster, isCluster := old.(*v1beta2.EtcdCluster)
	if next, areClusters := e.ObjectNew.(*v1beta2.EtcdCluster); isCluster && areClusters {
		cluster.Status = next.Status
	}
	return !equality.Semantic.DeepEqual(old, e.ObjectNew)
}
