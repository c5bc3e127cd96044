package etcdcluster_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/leadership"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
)

// TestWriteHangs has the webhook for one pod take longer than a pass may: status tells it, and the next passes go on with the others.
func TestWriteHangs(t *testing.T) {
	w := newRefusingWorld(t)
	w.until(t, "up", func() bool { return len(w.serving(t)) == 3 })
	w.losePods(t, "c-0", "c-1", "c-2")
	w.operator.Reservations.Lease = leaseFor(t, 100*time.Millisecond)
	w.refuse = func(ctx context.Context, verb, kind, name string) error {
		if verb+kind+name != "createPodc-0" {
			return nil
		}
		<-ctx.Done()
		return &url.Error{Op: "Post", URL: "https://api/pods", Err: ctx.Err()}
	}
	w.until(t, "told", func() bool {
		return strings.Contains(w.says(t, v1beta2.ConditionDegraded).Message, "refuses to create Pod c-0: no answer in time")
	})
	w.until(t, "served by two", func() bool { return slices.Equal(w.serving(t), []string{"c-1", "c-2"}) })
	if n := w.warned("c-0"); n != 1 {
		t.Errorf("%d events say so: %s", n, w.recordedEvents())
	}
}

// TestOutage has the API server answer nothing from a write on: that is no refusal.
func TestOutage(t *testing.T) {
	w := newRefusingWorld(t)
	w.until(t, "up", func() bool { return len(w.serving(t)) == 3 })
	w.losePods(t, "c-0")
	w.operator.Reservations.Lease = leaseFor(t, 100*time.Millisecond)
	away, live := false, w.operator.Live
	w.operator.Live = interceptor.NewClient(w.api.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if away {
				<-ctx.Done()
				return &url.Error{Op: "Get", URL: "https://api/etcdclusters", Err: ctx.Err()}
			}
			return live.Get(ctx, key, o, options...)
		},
	})
	for title, broken := range map[string]error{
		"no answer":     &url.Error{Op: "Post", URL: "https://api/pods", Err: context.DeadlineExceeded},
		"no connection": &url.Error{Op: "Post", URL: "https://api/pods", Err: errors.New("connection refused")},
		"unready": &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Message: "starting",
		}},
	} {
		away = false
		w.refuse = func(context.Context, string, string, string) error {
			away = true
			return broken
		}
		if _, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: w.name}); !outage.Is(err) {
			t.Errorf("%s: the error is %v", title, err)
		}
	}
	if n := w.warned(""); n != 0 {
		t.Errorf("it is said to refuse something: %s", w.recordedEvents())
	}
}

// leaseFor is a Lease that no one else takes for as long, whatever the time is.
func leaseFor(t *testing.T, left time.Duration) *leadership.Lock {
	t.Helper()
	now := clocktesting.NewFakePassiveClock(time.Now())
	lock := leadership.NewLock(renewable{}, now)
	must(t, lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: renewable{}.Identity()}))
	now.SetTime(now.Now().Add(lock.Left() - left))
	return lock
}

// renewable is a Lease that can always be renewed.
type renewable struct{ resourcelock.Interface }

func (renewable) Identity() string { return "operator" }

func (renewable) Update(context.Context, resourcelock.LeaderElectionRecord) error { return nil }
