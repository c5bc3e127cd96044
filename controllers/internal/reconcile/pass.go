package reconcile

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// Heartbeat is how often an object is looked at when nothing has woken the operator.
	Heartbeat = time.Minute
	// Soon is the next look after an action: its effect may come with no event to wake us.
	Soon = 5 * time.Millisecond
	// NotYet is the next look after something that cannot be done at the moment.
	NotYet = 250 * time.Millisecond
)

// Decide observes and plans on the cache. An answer that changes anything is planned again on live reads, so that an idle
// object costs the API server nothing and no change is made on a stale view.
func Decide[P interface{ Mutates() bool }](cached, live client.Reader, plan func(client.Reader) (P, error)) (P, error) {
	p, err := plan(cached)
	if err != nil || !p.Mutates() {
		return p, err
	}
	return plan(live)
}

// Ending is how a pass ends. Each function gets what went wrong with the action, nil if nothing did.
type Ending struct {
	// WriteStatus writes if anything changed. The version that was read must still be the current one: what an action put
	// into status is a promise to act only on that view.
	WriteStatus func(context.Context, error) error
	// Left tells for how long the action may still be written down, nil if it changes nothing.
	Left func() time.Duration
	// RecordEvents tells what has taken effect, once it is in status.
	RecordEvents func(context.Context, error)
	// Again says when to look again.
	Again func() ctrl.Result
}

// Finish is the only way out of a pass: one status write, the events, and when to look again. Nothing is written on a view
// that was stale.
func Finish(ctx context.Context, e Ending, err error) (ctrl.Result, error) {
	if Stale(err) {
		return lookAgain(ctx, err)
	}
	writeErr := e.write(ctx, err)
	switch {
	case errors.Is(writeErr, ErrStale):
		return lookAgain(ctx, writeErr)
	case apierrors.IsConflict(writeErr):
		return lookAgain(ctx, writeErr)
	case apierrors.IsNotFound(writeErr): // the object is gone: there is nobody left to tell
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

// write is cut off with the action, as far as it says that it was carried out: what is only decided in status may be an effect by
// itself.
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

// ErrStale says that the cache does not have yet what a step would be taken on.
var ErrStale = errors.New("the cache lags")

// Stale tells whether a write failed, or was left undone, because of what the view did not have yet.
func Stale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || errors.Is(err, ErrStale)
}

// lookAgain is for a view that was stale: the next pass decides on a newer one.
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
