package etcdcluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
)

// waker has clusters reconciled that no event tells of. The zero value wakes nobody. It is safe for concurrent use.
type waker struct {
	opening sync.Mutex
	queue   workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// start is a source.Func, from which on clusters are woken.
func (w *waker) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	w.opening.Lock()
	defer w.opening.Unlock()
	w.queue = queue
	return nil
}

func (w *waker) wake(clusters ...types.NamespacedName) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.queue == nil {
		return
	}
	for _, cluster := range clusters {
		w.queue.Add(ctrl.Request{NamespacedName: cluster})
	}
}
