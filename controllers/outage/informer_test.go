package outage_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/etcdpilot/etcd-operator/controllers/outage"
)

// TestNewInformer has an API server come back after an outage of each length, refuse all for a while as one does that has just
// started, and then answer. What is then in it must be in the cache soon, by the clock of the test's own time.
func TestNewInformer(t *testing.T) {
	for _, away := range []time.Duration{6 * time.Second, 20 * time.Second, 2 * time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			reach := func() error {
				switch since := time.Since(begun); {
				case since < away:
					return apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "get", schema.GroupResource{}, "", "", 0, true)
				case since < away+3*time.Second:
					return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("RBAC: no such role"))
				}
				return nil
			}
			ctx, end := context.WithCancel(t.Context())
			informer := outage.NewInformer(pods(reach), &corev1.Pod{}, 0, cache.Indexers{})
			done := make(chan struct{})
			go func() { defer close(done); informer.RunWithContext(ctx) }()
			if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				t.Error("it never had anything")
			}
			if late := time.Since(begun) - away - 3*time.Second; late > 3*time.Second {
				t.Errorf("after an outage of %s it took %s more to see what there is", away, late)
			}
			if got := len(informer.GetStore().List()); got != 1 {
				t.Errorf("it has %d pods", got)
			}
			end()
			<-done
		})
	}
}

// TestRefusedForGood wants a refusal that stays to be told, for the informer to log it.
func TestRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no role has it"))
		informer := outage.NewInformer(pods(func() error { return refused }), &corev1.Pod{}, 0, cache.Indexers{})
		told := make(chan error, 1)
		if err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
			select {
			case told <- err:
			default:
			}
		}); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); informer.RunWithContext(ctx) }()
		if err := <-told; !apierrors.IsForbidden(err) {
			t.Errorf("it is told %v", err)
		}
		end()
		<-done
	})
}

// pods lists one pod and never changes, if it can be reached.
func pods(reach func() error) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-0"}}
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{pod}}, reach()
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
			}
			return watch.NewFake(), reach()
		},
	}, nil)
}
