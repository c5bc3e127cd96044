package outage

import (
	"context"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// tellEvery is how often an outage is logged while an informer waits.
const tellEvery = time.Minute

// NewInformer is cache.NewSharedIndexInformer with requests that wait for an API server that is away, and for rights in a namespace, at
// a steady pace. The informer's own pause grows with every request that fails. An informer of a namespace that may not be listed
// counts as synced, so that others are served; Retried leaves that namespace alone meanwhile.
func NewInformer(
	lw cache.ListerWatcher, object runtime.Object, resync time.Duration, indexers cache.Indexers,
) cache.SharedIndexInformer {
	_, policies := object.(*networkingv1.NetworkPolicy)
	inner, i := cache.ToListerWatcherWithContext(lw), &informer{policies: policies}
	i.SharedIndexInformer = cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return await(ctx, i, func() (runtime.Object, error) { return inner.ListWithContext(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return await(ctx, i, func() (watch.Interface, error) { return inner.WatchWithContext(ctx, o) })
		},
	}, object, resync, indexers)
	return i
}

// await tries until there is an answer that is neither an outage's nor a refusal in a namespace, or the context ends.
func await[T any](ctx context.Context, i *informer, try func() (T, error)) (T, error) {
	away, told := time.Now(), time.Now()
	refused := false
	for {
		got, err := try()
		next := pause()
		switch {
		case Is(err):
			noteAway()
			away = time.Now()
			if time.Since(told) >= tellEvery {
				told = time.Now()
				log.FromContext(ctx).Info("nothing new is seen of some objects: waiting for the API server", "error", err.Error())
			}
		case !apierrors.IsForbidden(err):
			return got, err
		case time.Since(away) > starting:
			namespace, ok := refusedIn(err)
			if !ok {
				return got, err
			}
			i.refused(ctx, namespace, err, !refused)
			refused, next = true, pauseRefused()
		}
		select {
		case <-ctx.Done():
			return got, err
		case <-time.After(next):
		}
	}
}
