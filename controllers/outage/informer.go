package outage

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// tellEvery is how often an outage is logged while an informer waits.
const tellEvery = time.Minute

// NewInformer is cache.NewSharedIndexInformer with requests that wait for an API server that is away, at a steady pace. The
// informer's own pause grows with every request that fails.
func NewInformer(
	lw cache.ListerWatcher, object runtime.Object, resync time.Duration, indexers cache.Indexers,
) cache.SharedIndexInformer {
	inner := cache.ToListerWatcherWithContext(lw)
	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return await(ctx, func() (runtime.Object, error) { return inner.ListWithContext(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return await(ctx, func() (watch.Interface, error) { return inner.WatchWithContext(ctx, o) })
		},
	}, object, resync, indexers)
}

// await tries until there is an answer that is no outage's, or the context ends.
func await[T any](ctx context.Context, try func() (T, error)) (T, error) {
	away, told := time.Now(), time.Now()
	for {
		got, err := try()
		if Is(err) {
			noteAway()
			away = time.Now()
			if time.Since(told) >= tellEvery {
				told = time.Now()
				log.FromContext(ctx).Info("nothing new is seen of some objects: waiting for the API server", "error", err.Error())
			}
		} else if !apierrors.IsForbidden(err) || time.Since(away) > starting {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, err
		case <-time.After(pause()):
		}
	}
}
