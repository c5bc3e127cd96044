package etcdcluster_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/leadership"
)

// TestHeldUp holds the operator up between a look and what follows from it: by then another process may act for the cluster.
func TestHeldUp(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: "ns", Name: "c"}
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Spec: v1beta2.EtcdClusterSpec{Size: 1},
	}))
	now := clocktesting.NewFakePassiveClock(time.Now())
	stall := time.Duration(0)
	live := w.operator.Live
	w.operator.Clock = now
	w.operator.Live = interceptor.NewClient(w.api.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := live.Get(ctx, key, o, opts...)
			now.SetTime(now.Now().Add(stall))
			return err
		},
	})
	step := func() (changed bool) {
		before := w.writes
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		return w.writes > before
	}
	noLease := leadership.NewLock(nil, now)
	w.operator.Reservations.Lease = noLease
	if step() {
		t.Error("it is claimed by a process that does not hold the Lease")
	}
	if w.operator.Reservations.Lease = nil; !step() { // it is claimed
		t.Fatal("nothing is done")
	}
	for range 2 { // the first start is written down, and its pod is made
		w.operator.Reservations.Lease = noLease
		if step() {
			t.Error("something is done by a process that does not hold the Lease")
		}
		w.operator.Reservations.Lease = nil
		stall = time.Minute
		if step() {
			t.Error("something is done on a view of a minute ago")
		}
		if stall = 0; !step() {
			t.Error("nothing is done on a view of now")
		}
	}
}

// TestHeldUpWriting holds the operator up between an effect and the write to status of what was decided with it.
func TestHeldUpWriting(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: "ns", Name: "c"}
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Spec: v1beta2.EtcdClusterSpec{Size: 1},
	}))
	now := clocktesting.NewFakePassiveClock(time.Now())
	stall := time.Duration(0)
	w.operator.Clock = now
	w.operator.Client = interceptor.NewClient(w.operator.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			now.SetTime(now.Now().Add(stall))
			return c.Create(ctx, o, opts...)
		},
	})
	tells := func() bool {
		before, after := &v1beta2.EtcdCluster{}, &v1beta2.EtcdCluster{}
		must(t, w.api.Get(t.Context(), name, before))
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		must(t, w.api.Get(t.Context(), name, after))
		return after.ResourceVersion != before.ResourceVersion
	}
	for range 2 { // it is claimed, and the first start is written down
		if !tells() {
			t.Fatal("nothing is done")
		}
	}
	if stall = time.Minute; tells() { // its pod is made
		t.Error("status tells of what was decided on a view of a minute ago")
	}
	if stall = 0; !tells() {
		t.Error("status does not tell what is seen now")
	}
}
