// Package reservations keeps two operators from reconciling one object: the operator that does has reserved it in status.operator,
// by the name and UID of its Lease. A reconciler asks its Keeper about every object that it reads before it does anything else, and
// leaves to it those that it may not act on. The decision is made by internal/plan/claim.
package reservations

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/leadership"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

const (
	// again is the next look at an object of another operator. No event reports that it has become free.
	again = 15 * time.Second
	// lost is the next look after another writer was faster.
	lost = reconcile.NotYet
	// won is the next look at an object that was just reserved.
	won = reconcile.Soon
	// reserveWithin is how long the write of a reservation may take.
	reserveWithin = 10 * time.Second
	// warnEvery is how often an event repeats that an object is another operator's.
	warnEvery = time.Hour
)

// Keeper knows which objects this operator may act on. All reconcilers share one, and with it what it knows of other operators'
// Leases. Its exported fields must not change once it is used.
type Keeper struct {
	// Self is this operator, without the UID of its Lease, which is looked up; the zero value is one without leader election,
	// which reserves nothing.
	Self claim.Operator
	// Lease is the one that this operator holds by leader election, nil without that.
	Lease *leadership.Lock
	// Client writes reservations.
	Client client.Client
	// Live reads Leases from the API server: a cache would watch all of them.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Clock measures for how long a Lease was not renewed.
	Clock clock.PassiveClock

	own    own
	leases leases
	mu     sync.Mutex
	// foreign are the objects of other operators, and when an event last said so, zero if none did.
	foreign map[object]time.Time
}

// object names an object.
type object struct {
	kind string
	types.NamespacedName
}

// Left is for how long from now on no other process of this installation acts.
func (k *Keeper) Left() time.Duration {
	if k.Lease == nil {
		return math.MaxInt64
	}
	return k.Lease.Left()
}

// Decide decides whether this operator may act on an object reserved by that operator. Its errors are those of reading a Lease:
// then nothing may be done.
func (k *Keeper) Decide(ctx context.Context, o client.Object, by *v1beta2.OperatorReference) (claim.Decision, error) {
	var lease claim.Lease
	claimant := operatorOf(by)
	self, err := k.self(ctx)
	if err != nil {
		return nil, fmt.Errorf("find this operator's own Lease: %w", err)
	}
	if claim.Foreign(self, claimant) {
		if lease, err = k.leases.look(ctx, k.Live, k.Clock, claimant); err != nil {
			return nil, fmt.Errorf("check the Lease of the operator that reserved this object: %w", err)
		}
	}
	d := claim.Decide(self, claimant, lease)
	if claim.Acts(d) {
		k.Forget(o, client.ObjectKeyFromObject(o))
	}
	return d, nil
}

func operatorOf(by *v1beta2.OperatorReference) claim.Operator {
	if by == nil {
		return claim.Operator{}
	}
	return claim.Operator{Namespace: by.Namespace, Lease: by.Lease, UID: by.UID}
}

// Settle is the whole pass of an object that this operator may not act on, or not yet: it reserves the object, or records an event
// why not, and returns when to look again. by is the field of the object with the reservation; to be reserved the object must have
// been read from the API server.
func (k *Keeper) Settle(ctx context.Context, o client.Object, by **v1beta2.OperatorReference, d claim.Decision) (
	ctrl.Result, error,
) {
	switch d := d.(type) {
	case claim.TakeOver:
		return k.take(ctx, o, by, d.From)
	case claim.StandBack:
		k.standBack(ctx, o, d)
		return ctrl.Result{RequeueAfter: wait.Jitter(again, 0.2)}, nil
	default:
		return ctrl.Result{}, fmt.Errorf("unexpected decision %T", d)
	}
}

// take writes the reservation, unless the object has been written since it was read: of several operators that try one succeeds.
func (k *Keeper) take(ctx context.Context, o client.Object, by **v1beta2.OperatorReference, from claim.Operator) (
	ctrl.Result, error,
) {
	left := k.Left()
	if left == 0 {
		return ctrl.Result{RequeueAfter: lost}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(left, reserveWithin))
	defer cancel()
	self, err := k.self(ctx)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("find this operator's own Lease: %w", err)
	}
	*by = &v1beta2.OperatorReference{Namespace: self.Namespace, Lease: self.Lease, UID: self.UID}
	err = k.Client.Status().Update(ctx, o)
	switch {
	case reconcile.Stale(err):
		return ctrl.Result{RequeueAfter: lost}, nil
	case reconcile.Gone(err):
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("reserve the object in status.operator: %w", err)
	case *by == nil || (*by).UID != self.UID: // it would be reserved over and over
		return ctrl.Result{}, fmt.Errorf("the CRD of %s is older than this operator and has no field status.operator.uid: "+
			"apply the CRDs of this version", kindOf(o))
	}
	log.FromContext(ctx).Info("reserved the object", "operator", k.Self, "from", from)
	if claim.Foreign(self, from) {
		reconcile.Emit(k.Recorder, o, corev1.EventTypeNormal, v1beta2.ReasonTookOver, "TakeOver", fmt.Sprintf(
			"Lease %s has not been renewed for %s, so its operator is gone: this one, which holds Lease %s, reconciles this object from now on",
			from, claim.TakeOverAfter, k.Self))
	}
	k.Forget(o, client.ObjectKeyFromObject(o))
	return ctrl.Result{RequeueAfter: won}, nil
}

// standBack records now and then that the object is another operator's.
func (k *Keeper) standBack(ctx context.Context, o client.Object, d claim.StandBack) {
	who := object{kindOf(o), client.ObjectKeyFromObject(o)}
	if !k.due(who, d.Known) {
		return
	}
	log.FromContext(ctx).Info("another operator reconciles this object", "because", d.Why)
	reconcile.Emit(k.Recorder, o, corev1.EventTypeWarning, v1beta2.ReasonOperatedByAnother, "StandBack",
		fmt.Sprintf("%s, have this one take its place: %s", d.Why, claim.Release(who.kind, who.Namespace, who.Name)))
}

// due counts the object among those of other operators, and reports whether an event is to say so now.
func (k *Keeper) due(who object, known bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	warned, counted := k.foreign[who]
	if !counted {
		metrics.OperatedByAnother.WithLabelValues(who.kind, who.Namespace).Inc()
	}
	warn := known && (warned.IsZero() || k.Clock.Since(warned) >= warnEvery)
	if warn {
		warned = k.Clock.Now()
	}
	if k.foreign == nil {
		k.foreign = map[object]time.Time{}
	}
	k.foreign[who] = warned
	return warn
}

// Forget is for an object that this operator acts on, or that no longer exists. Of the first argument only the type matters.
func (k *Keeper) Forget(kind client.Object, name types.NamespacedName) {
	who := object{kindOf(kind), name}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, counted := k.foreign[who]; counted {
		metrics.OperatedByAnother.WithLabelValues(who.kind, who.Namespace).Dec()
		delete(k.foreign, who)
	}
}

// kindOf is an object's kind, which is the name of its type.
func kindOf(o client.Object) string { return reflect.TypeOf(o).Elem().Name() }
