// Package outage lets the operator continue at once when the API server is back. client-go and controller-runtime wait longer and
// longer between two attempts, up to a minute and more, as they must where the caller is the cause.
package outage

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// retry is the pause between two attempts while the API server is away. Up to half of it is added at random, so that the objects
// are not all reconciled at the same time.
const retry = time.Second

// unready are the answers of an API server, or of a load balancer before it, that cannot answer yet.
var unready = []int32{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// Is reports whether an error says that the API server cannot be reached or cannot answer yet. It is false if the API
// server rejects the request itself, and for errors that are not from HTTP requests.
func Is(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Op != "parse"
	}
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return false // an informer answers that by listing what there is
	}
	if answer := apierrors.APIStatus(nil); errors.As(err, &answer) {
		return slices.Contains(unready, answer.Status().Code)
	}
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// starting is for how long after an outage a refusal may only mean that the API server has just started.
const starting = 15 * time.Second

// lastAway is when this process has last found the API server away, nil if never.
var lastAway atomic.Pointer[time.Time]

func noteAway() { lastAway.Store(new(time.Now())) }

// timedOut reports whether a request took too long, which may be the fault of a webhook: that would have the rights of all objects
// doubted for as long as it hangs.
func timedOut(err error) bool {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Timeout()
	}
	answer := apierrors.APIStatus(nil)
	return errors.As(err, &answer) && answer.Status().Code == http.StatusGatewayTimeout
}

// unprepared is how an API server refuses a request because of roles and bindings, or of what its admission control needs, which it
// reads while it starts. A webhook or a policy that quotes such words has its own before them.
var unprepared = regexp.MustCompile(`^[^:]* is forbidden: (User ".*" cannot |not yet ready to handle request)`)

// Starting reports whether an error is a refusal that may only mean that the API server has just started: it answers 403 until it has
// read all roles and bindings. Where it has not been away, or does so for longer, the refusal is true.
func Starting(err error) bool {
	answer, away := apierrors.APIStatus(nil), lastAway.Load()
	if away == nil || !apierrors.IsForbidden(err) || !errors.As(err, &answer) || !unprepared.MatchString(answer.Status().Message) {
		return false
	}
	since := time.Since(*away)
	return since >= 0 && since < starting
}

func pause() time.Duration { return wait.Jitter(retry, 0.5) }

// Retried retries a pass that failed because of an outage, or of an API server that has just started, at a steady pace. In a namespace
// that is not seen completely yet no pass begins.
func Retried(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if Unseen(request.Namespace) {
			return reconcile.Result{RequeueAfter: pause()}, nil
		}
		result, err := inner.Reconcile(ctx, request)
		switch {
		case Is(err):
			if !timedOut(err) {
				noteAway()
			}
		case !Starting(err):
			return result, err
		}
		log.FromContext(ctx).Info("waiting for the API server", "error", err.Error())
		return reconcile.Result{RequeueAfter: pause()}, nil
	})
}
