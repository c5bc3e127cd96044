package reconcile

import (
	"cmp"
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdpilot/etcd-operator/controllers/outage"
)

const (
	// Heartbeat is how often an object is reconciled without an event.
	Heartbeat = time.Minute
	// Soon is the next pass after an action, whose effect may come without an event.
	Soon = 5 * time.Millisecond
	// NotYet is the next pass after something that cannot be done at the moment.
	NotYet = 250 * time.Millisecond
	// noLease is the next look while the Lease is not renewed. The API server has just answered, so that will not take long.
	noLease = time.Second
)

// Decide observes and plans on the cache. A decision that changes anything is made again on live reads, so that an idle object
// costs the API server nothing and no change is made on a stale view.
func Decide[P interface{ Mutates() bool }](cached, live client.Reader, plan func(client.Reader) (P, error)) (P, error) {
	p, err := plan(cached)
	if err != nil || !p.Mutates() {
		return p, err
	}
	return plan(live)
}

// Ending is how a pass ends. Each function gets the error of the action, nil if there was none.
type Ending struct {
	// WriteStatus writes the status if it has changed. The version that was read must still be the current one: an action in
	// status is valid only for that view.
	WriteStatus func(context.Context, error) error
	// Left returns for how long the action may still be recorded; nil if it changes nothing.
	Left func() time.Duration
	// RecordEvents records the events of what has taken effect, once it is in status.
	RecordEvents func(context.Context, error)
	// RecordDone records the event of an action that has taken effect, where the pass ends before RecordEvents; nil if there is nothing like that.
	// The next pass does not do it again.
	RecordDone func(context.Context)
	// Again returns when the next pass is due.
	Again func() ctrl.Result
	// Deed is what the pass has tried to change, nil for nothing.
	Deed *Deed
}

// Finish ends every pass: one status write, the events, and the time of the next pass. Nothing is written on a stale view, nor of
// refusals that pass once the API server has started.
func Finish(ctx context.Context, e Ending, err error) (ctrl.Result, error) {
	if errors.Is(err, ErrNoLease) || Stale(err) || outage.Starting(err) {
		e.Deed.Count(err)
		e.recordDone(ctx)
	}
	switch {
	case errors.Is(err, ErrNoLease):
		log.FromContext(ctx).Info(err.Error())
		return ctrl.Result{RequeueAfter: noLease}, nil
	case Stale(err):
		return lookAgain(ctx, err)
	case outage.Starting(err):
		return ctrl.Result{}, err
	}
	writeErr := e.write(ctx, err)
	e.Deed.Count(cmp.Or(err, writeErr))
	if writeErr != nil && !Gone(writeErr) {
		e.recordDone(ctx)
	}
	switch {
	case Stale(writeErr):
		return lookAgain(ctx, writeErr)
	case Gone(writeErr): // the object is gone
		return ctrl.Result{}, nil
	case writeErr != nil:
		return ctrl.Result{}, errors.Join(err, writeErr)
	}
	e.RecordEvents(ctx, err)
	if err != nil {
		return ctrl.Result{}, err
	}
	return e.Again(), nil
}

func (e Ending) recordDone(ctx context.Context) {
	if e.RecordDone != nil {
		e.RecordDone(ctx)
	}
}

// write is subject to the same deadline as the action if that succeeded: what is written to status may be an effect by itself.
func (e Ending) write(ctx context.Context, err error) error {
	if e.Left == nil || err != nil {
		return e.WriteStatus(ctx, err)
	}
	left := e.Left()
	if left <= 0 {
		return ErrStale
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	return e.WriteStatus(ctx, nil)
}

// ErrStale says that the view of a pass is out of date, so that it must not act on it.
var ErrStale = errors.New("the view is out of date, or the time to act on it is over")

// ErrNoLease means that another process may act: the Lease has to be renewed first.
var ErrNoLease = errors.New("the Lease was not renewed: nothing is changed until it is")

// Stale reports whether a write failed, or was not attempted, because the view was out of date. What a webhook or a policy has denied by the
// same code is denied on a newer view, too.
func Stale(err error) bool {
	return apierrors.IsConflict(err) && !Denied(err) || Exists(err) || errors.Is(err, ErrStale)
}

// lookAgain requeues after a stale view: the next pass decides on a newer one.
func lookAgain(ctx context.Context, because error) (ctrl.Result, error) {
	log.FromContext(ctx).V(1).Info("looking again", "because", because.Error())
	return ctrl.Result{RequeueAfter: NotYet}, nil
}

// longestPause is between two passes of an object that fail, each for a reason of its own. controller-runtime's is 1000 s: what
// is refused, by a quota for one, is freed with no event.
const longestPause = 30 * time.Second

// RateLimiter sets the pause after a pass that has failed: 5 ms, and twice as long each time up to half a minute.
func RateLimiter() workqueue.TypedRateLimiter[ctrl.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](Soon, longestPause)
}
