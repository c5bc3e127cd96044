// Package claims keeps two operators off one object. A reconciler asks its Keeper of every object that it reads, before it does
// anything else, and leaves to it those that it may not act on. The decision is made by internal/plan/claim.
package claims

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	// again is the next look at an object that is left alone. What frees it comes with no event.
	again = 15 * time.Second
	// lost is the next look after somebody else was quicker to write.
	lost = reconcile.NotYet
	// won is the next look at an object that was just claimed.
	won = reconcile.Soon
	// tries is how long a claim may take.
	tries = 10 * time.Second
	// tellEvery is how often people are told that an object is left alone.
	tellEvery = time.Hour
)

// Keeper knows which objects this operator may act on. All of its reconcilers share one, so that they share what it knows of
// other operators' Leases. Its exported fields must not change once it is used.
type Keeper struct {
	// Self is this operator, without the UID of its Lease, which is looked up; the zero value is one without leader election,
	// which claims nothing.
	Self claim.Operator
	// Lease is the one that this operator holds by leader election, nil without that.
	Lease *leadership.Lock
	// Client writes claims.
	Client client.Client
	// Live reads Leases from the API server: a cache would watch those of everybody.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Clock tells for how long a Lease was not renewed.
	Clock clock.PassiveClock

	own    own
	leases leases
	mu     sync.Mutex
	// left are the objects that are left alone, and when people were told so, zero if they were not.
	left map[object]time.Time
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

// Decide decides whether this operator may act on an object with that claim. Its errors are those of reading a Lease: then
// nothing may be done.
func (k *Keeper) Decide(ctx context.Context, o client.Object, by *v1beta2.OperatorReference) (claim.Decision, error) {
	var lease claim.Lease
	claimant := operatorOf(by)
	self, err := k.self(ctx)
	if err != nil {
		return nil, fmt.Errorf("look which Lease is this operator's: %w", err)
	}
	if claim.Foreign(self, claimant) {
		if lease, err = k.leases.look(ctx, k.Live, k.Clock, claimant, self); err != nil {
			return nil, fmt.Errorf("look whether the operator is there that acts on this object: %w", err)
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

// Settle is the whole pass of an object that this operator may not act on, or not yet: it claims the object, or tells people why
// not, and says when to look again. by is where the object, which must have been read from the API server to be claimed, has
// its claim.
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
		return ctrl.Result{}, fmt.Errorf("decision %T leaves nothing to settle", d)
	}
}

// take writes the claim, unless somebody has written to the object since it was read: of several who try one succeeds.
func (k *Keeper) take(ctx context.Context, o client.Object, by **v1beta2.OperatorReference, from claim.Operator) (
	ctrl.Result, error,
) {
	left := k.Left()
	if left == 0 {
		return ctrl.Result{RequeueAfter: lost}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(left, tries))
	defer cancel()
	self, err := k.self(ctx)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("look which Lease is this operator's: %w", err)
	}
	*by = &v1beta2.OperatorReference{Namespace: self.Namespace, Lease: self.Lease, UID: self.UID}
	err = k.Client.Status().Update(ctx, o)
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: lost}, nil
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("claim this object: %w", err)
	case *by == nil || (*by).UID != self.UID: // it would be claimed again and again
		return ctrl.Result{}, fmt.Errorf("the definition of %s is older than this operator, and has no status.operator.uid: "+
			"apply the definitions of this version", kindOf(o))
	}
	log.FromContext(ctx).Info("claimed", "operator", k.Self, "from", from)
	if claim.Foreign(self, from) {
		reconcile.Emit(k.Recorder, o, corev1.EventTypeNormal, v1beta2.ReasonTookOver, "TakeOver", fmt.Sprintf(
			"the operator that had the Lease %s was not there for %s: this one, which has %s, acts on this object from now on",
			from, claim.Patience, k.Self))
	}
	k.Forget(o, client.ObjectKeyFromObject(o))
	return ctrl.Result{RequeueAfter: won}, nil
}

// standBack tells people that the object is left alone, now and then.
func (k *Keeper) standBack(ctx context.Context, o client.Object, d claim.StandBack) {
	who := object{kindOf(o), client.ObjectKeyFromObject(o)}
	if !k.due(who, d.Known) {
		return
	}
	log.FromContext(ctx).Info("left alone", "because", d.Why)
	reconcile.Emit(k.Recorder, o, corev1.EventTypeWarning, v1beta2.ReasonOperatedByAnother, "StandBack",
		fmt.Sprintf("%s, have this one take its place: %s", d.Why, claim.Release(who.kind, who.Namespace, who.Name)))
}

// due counts the object among those that are left alone, and tells whether people are to be told so now.
func (k *Keeper) due(who object, known bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	told, counted := k.left[who]
	if !counted {
		metrics.OperatedByAnother.WithLabelValues(who.kind, who.Namespace).Inc()
	}
	tell := known && (told.IsZero() || k.Clock.Since(told) >= tellEvery)
	if tell {
		told = k.Clock.Now()
	}
	if k.left == nil {
		k.left = map[object]time.Time{}
	}
	k.left[who] = told
	return tell
}

// Forget is for an object that is acted on, or that is not there any more. The first argument says only of which kind it is.
func (k *Keeper) Forget(kind client.Object, name types.NamespacedName) {
	who := object{kindOf(kind), name}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, counted := k.left[who]; counted {
		metrics.OperatedByAnother.WithLabelValues(who.kind, who.Namespace).Dec()
		delete(k.left, who)
	}
}

// kindOf says of which kind an object is: types are called as their kinds are.
func kindOf(o client.Object) string { return reflect.TypeOf(o).Elem().Name() }
