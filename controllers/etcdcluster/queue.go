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

// Priorities of clusters that are due at the same time. The number of workers is limited, and clusters with hanging members block
// them: those come last, so that they do not delay the others.
const (
	// ahead is for a cluster that has just been acted on. It continues before another one is started: of a thousand new ones the
	// first is healthy soon, and few are connected to at the same time.
	ahead = 1
	// normal is also that of events.
	normal = 0
	// resting is for a pass without a cause, as after the operator's start. The queue keeps the higher of two priorities: were this
	// one higher, the event of a failing pod of an idle cluster would not come last.
	resting = handler.LowPriority
	// behind is for clusters with hanging members.
	behind = resting - 1
)

// rank is a cluster's priority after this pass. It must be set: the queue would keep that of the pass.
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

// podEvents is a handler that sets the priority of pod events.
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

// fails reports whether the event is of a pod that is not ready, or no longer: its member may hang. A pod that is starting or
// terminating is no failure.
func fails(e event.UpdateEvent) bool {
	old, isPod := e.ObjectOld.(*corev1.Pod)
	pod, arePods := e.ObjectNew.(*corev1.Pod)
	return isPod && arePods && !podOf(pod).Ready &&
		old.Status.Phase == pod.Status.Phase && old.Status.PodIP == pod.Status.PodIP &&
		old.DeletionTimestamp.Equal(pod.DeletionTimestamp)
}

// unhurried adds items with the lowest priority. Handlers use either method, by themselves or through controller-runtime's
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

// changed reports whether an update changes anything in the cache, apart from the status, which a pass itself has written: the pass
// requeues itself, and the event would put the cluster before others that wait.
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
