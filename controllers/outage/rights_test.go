package outage_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcdpilot/etcd-operator/controllers/outage"
)

// refusedIn is how an API server refuses a list in a namespace.
func refusedIn(namespace string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "",
		errors.New(`User "system:serviceaccount:o:m" cannot list resource "pods" in API group "" in the namespace "`+namespace+`"`))
}

// passes reports whether a pass of an object in the namespace begins.
func passes(t *testing.T, namespace string) (begun bool) {
	t.Helper()
	result, err := outage.Retried(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		begun = true
		return reconcile.Result{}, nil
	})).Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "c"}})
	if err != nil || !begun && result.RequeueAfter == 0 {
		t.Errorf("got %+v, %v", result, err)
	}
	return begun
}

// TestRefusedNamespace has the rights in a namespace come after ten minutes. Until then its informer counts as synced, no pass begins
// there, the API server is asked seldom, and the log says so once.
func TestRefusedNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var granted atomic.Bool
		var asked, told atomic.Int32
		logger := funcr.New(func(string, string) { told.Add(1) }, funcr.Options{})
		ctx, end := context.WithCancel(logr.NewContext(t.Context(), logger))
		informer := outage.NewInformer(pods(func() error {
			asked.Add(1)
			if granted.Load() {
				return nil
			}
			return refusedIn("shop")
		}), &corev1.Pod{}, 0, cache.Indexers{})
		handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); informer.RunWithContext(ctx) }()
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, handler.HasSynced) {
			t.Error("others wait for it")
		}
		before := asked.Load()
		time.Sleep(10 * time.Minute)
		if got := asked.Load() - before; got < 50 || got > 130 {
			t.Errorf("it was tried %d times in ten minutes", got)
		}
		if told.Load() != 1 {
			t.Errorf("it was told %d times", told.Load())
		}
		if passes(t, "shop") || !passes(t, "billing") {
			t.Error("a pass begins where nothing is seen, or none where all is")
		}
		granted.Store(true)
		time.Sleep(11 * time.Second)
		if len(informer.GetStore().List()) != 1 || !passes(t, "shop") {
			t.Error("eleven seconds after the rights came it is not served")
		}
		end()
		<-done
	})
}

// TestUnseenPolicies wants NetworkPolicies that may not be listed to hold up no pass, and to be read in another way in that namespace only.
func TestUnseenPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var granted atomic.Bool
		ctx, end := context.WithCancel(t.Context())
		informer := outage.NewInformer(pods(func() error {
			if granted.Load() {
				return nil
			}
			return refusedIn("billing")
		}), &networkingv1.NetworkPolicy{}, 0, cache.Indexers{})
		done := make(chan struct{})
		go func() { defer close(done); informer.RunWithContext(ctx) }()
		cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
		if !passes(t, "billing") || !outage.UnseenPolicies("billing") || outage.UnseenPolicies("shop") {
			t.Error("no pass begins, or it does not know what it cannot see")
		}
		granted.Store(true)
		time.Sleep(11 * time.Second)
		if outage.UnseenPolicies("billing") {
			t.Error("eleven seconds after the rights came it sees nothing")
		}
		end()
		<-done
	})
}

// TestUnseenEnds wants an informer that has ended to hold up nobody.
func TestUnseenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		informer := outage.NewInformer(pods(func() error { return refusedIn("shop") }), &corev1.Pod{}, 0, cache.Indexers{})
		done := make(chan struct{})
		go func() { defer close(done); informer.RunWithContext(ctx) }()
		cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
		if passes(t, "shop") {
			t.Error("a pass begins")
		}
		end()
		<-done
		if !passes(t, "shop") {
			t.Error("no pass begins")
		}
	})
}

// TestRefusedLater takes the rights away after the first list, ends the watch as too old, which has the informer list again, and wants
// what was seen to stay.
func TestRefusedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken atomic.Bool
		var refused atomic.Int32
		watches := make(chan *watch.FakeWatcher, 1)
		ctx, end := context.WithCancel(t.Context())
		lw := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				if taken.Load() {
					refused.Add(1)
					return &corev1.PodList{}, refusedIn("shop")
				}
				return cache.ToListerWatcherWithContext(pods(func() error { return nil })).ListWithContext(ctx, o)
			},
			WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
				if o.SendInitialEvents != nil {
					return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
				}
				if taken.Load() {
					return nil, apierrors.NewResourceExpired("too old")
				}
				w := watch.NewFake()
				watches <- w
				return w, nil
			},
		}
		informer := outage.NewInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
		done := make(chan struct{})
		go func() { defer close(done); informer.RunWithContext(ctx) }()
		cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
		w := <-watches
		taken.Store(true)
		w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired})
		time.Sleep(10 * time.Minute)
		if refused.Load() < 10 {
			t.Fatalf("it was refused %d times", refused.Load())
		}
		if len(informer.GetStore().List()) != 1 || !passes(t, "shop") {
			t.Error("the pod counts as gone")
		}
		end()
		<-done
	})
}
