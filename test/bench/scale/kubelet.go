package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// workers is how many objects the kubelet works on at the same time.
const workers = 16

// key names an object to look at.
type key struct {
	budget bool
	name   types.NamespacedName
}

// kubelet plays the nodes, the scheduler and the disruption controller, and watches the clusters get healthy.
type kubelet struct {
	client client.Client
	cache  cache.Cache
	queue  workqueue.TypedRateLimitingInterface[key]
	world  *world
	health *health
	done   sync.WaitGroup
}

func startKubelet(ctx context.Context, config *rest.Config, w *world) (*kubelet, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	k := &kubelet{world: w, health: newHealth(), queue: workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[key](10*time.Millisecond, time.Second))}
	var err error
	if k.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if k.cache, err = cache.New(config, cache.Options{
		Scheme: scheme, DefaultTransform: cache.TransformStripManagedFields(),
	}); err != nil {
		return nil, err
	}
	if err := k.watch(ctx); err != nil {
		return nil, err
	}
	k.done.Go(func() { _ = k.cache.Start(ctx) }) // it ends with the context
	if !k.cache.WaitForCacheSync(ctx) {
		return nil, errors.New("the API server's objects cannot be read")
	}
	for range workers {
		k.done.Go(func() { k.work(ctx) })
	}
	context.AfterFunc(ctx, k.queue.ShutDown)
	return k, nil
}

// wait returns when everything has ended, after the context that it was started with.
func (k *kubelet) wait() { k.done.Wait() }

func (k *kubelet) watch(ctx context.Context) error {
	for _, on := range []struct {
		object client.Object
		see    func(any)
	}{
		{&corev1.Pod{}, func(o any) { k.enqueue(o, false) }},
		{&policyv1.PodDisruptionBudget{}, func(o any) { k.enqueue(o, true) }},
		{&v1beta2.EtcdCluster{}, func(o any) {
			if c, ok := o.(*v1beta2.EtcdCluster); ok {
				k.health.see(c)
			}
		}},
	} {
		informer, err := k.cache.GetInformer(ctx, on.object)
		if err != nil {
			return fmt.Errorf("watch %T: %w", on.object, err)
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: on.see, UpdateFunc: func(_, o any) { on.see(o) }, DeleteFunc: on.see,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *kubelet) enqueue(o any, budget bool) {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	if object, ok := o.(client.Object); ok {
		k.queue.Add(key{budget: budget, name: client.ObjectKeyFromObject(object)})
	}
}

func (k *kubelet) work(ctx context.Context) {
	for {
		item, stopped := k.queue.Get()
		if stopped {
			return
		}
		sync := k.syncPod
		if item.budget {
			sync = k.syncBudget
		}
		switch err := sync(ctx, item.name); {
		case err == nil:
			k.queue.Forget(item)
		case ctx.Err() == nil:
			if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				fmt.Fprintf(os.Stderr, "kubelet: %s: %v\n", item.name, err)
			}
			k.queue.AddRateLimited(item)
		}
		k.queue.Done(item)
	}
}

func (k *kubelet) syncPod(ctx context.Context, name types.NamespacedName) error {
	pod := &corev1.Pod{}
	if err := k.cache.Get(ctx, name, pod); err != nil {
		if apierrors.IsNotFound(err) {
			k.world.end(name)
		}
		return client.IgnoreNotFound(err)
	}
	if pod.DeletionTimestamp != nil {
		k.world.end(name)
		return client.IgnoreNotFound(k.client.Delete(ctx, pod, client.GracePeriodSeconds(0)))
	}
	if pod.Spec.NodeName == "" {
		return k.bind(ctx, pod)
	}
	cluster := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[resources.LabelCluster]}
	n := k.world.pod(name, cluster, pod.UID, version.OfImage(resources.EtcdOf(pod).Image))
	if err := k.mount(ctx, pod, n); err != nil {
		return err
	}
	if text := pod.Annotations[member.PermitAnnotation]; text != "" && !n.started() {
		permit, err := member.ParsePermit(text)
		if err != nil {
			return err
		}
		if err := n.start(permit); err != nil {
			return err
		}
		for i := range strings.Count(permit.InitialCluster, "=") { // the others may be ready now, too
			k.queue.Add(key{name: types.NamespacedName{
				Namespace: pod.Namespace, Name: fmt.Sprintf("%s-%d", cluster.Name, i),
			}})
		}
	}
	return k.report(ctx, pod, n)
}

// bind schedules a pod: on the node of its number, so that the members of a cluster are spread.
func (k *kubelet) bind(ctx context.Context, pod *corev1.Pod) error {
	node := "node-" + pod.Name[len(pod.Name)-1:]
	return k.client.SubResource("binding").Create(ctx, pod, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	})
}

// report writes the pod's status if it has changed.
func (k *kubelet) report(ctx context.Context, pod *corev1.Pod, n *node) error {
	ready := corev1.ConditionFalse
	if n.serves() {
		ready = corev1.ConditionTrue
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == ready && pod.Status.Phase == corev1.PodRunning {
			return nil
		}
	}
	now := metav1.Now()
	next := pod.DeepCopy()
	next.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: n.ip.String(), PodIPs: []corev1.PodIP{{IP: n.ip.String()}}, StartTime: &now,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.PodReady, Status: ready, LastTransitionTime: now},
		},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: resources.EtcdContainer, Image: resources.EtcdOf(pod).Image, ImageID: "simulated",
			Ready: ready == corev1.ConditionTrue,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}
	return k.client.Status().Patch(ctx, next, client.MergeFrom(pod))
}

// syncBudget says that the disruption controller has seen the budget.
func (k *kubelet) syncBudget(ctx context.Context, name types.NamespacedName) error {
	budget := &policyv1.PodDisruptionBudget{}
	if err := k.cache.Get(ctx, name, budget); err != nil {
		return client.IgnoreNotFound(err)
	}
	if budget.Status.ObservedGeneration >= budget.Generation {
		return nil
	}
	next := budget.DeepCopy()
	next.Status.ObservedGeneration = budget.Generation
	return k.client.Status().Patch(ctx, next, client.MergeFrom(budget))
}
