package reconcile_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
)

// webhook is how an API server says that a webhook has denied a request.
const webhook = `admission webhook "w" denied the request: no`

func answered(code int32, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
}

// reasoned is an answer for which the webhook has chosen the reason, too.
func reasoned(a *apierrors.StatusError, reason metav1.StatusReason) *apierrors.StatusError {
	a.ErrStatus.Reason = reason
	return a
}

// TestRefused wants only what the API server refuses for the write's own sake to count as a refusal, and none of that as a stale view, on
// which the write would be tried again without a word.
func TestRefused(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	terminating := apierrors.NewForbidden(pods, "c-0", errors.New("it is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for title, c := range map[string]struct {
		err            error
		refused, stale bool
	}{
		"none":                               {nil, false, false},
		"forbidden":                          {fmt.Errorf("create: %w", apierrors.NewForbidden(pods, "c-0", errors.New("exceeded quota"))), true, false},
		"a bad request":                      {apierrors.NewBadRequest("no"), true, false},
		"invalid":                            {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "c-0", nil), true, false},
		"too large":                          {apierrors.NewRequestEntityTooLargeError("no"), true, false},
		"not allowed":                        {apierrors.NewMethodNotSupported(pods, "create"), true, false},
		"a webhook that is not there":        {apierrors.NewInternalError(errors.New(`failed calling webhook "w": no route to host`)), true, false},
		"a webhook's own 404":                {answered(http.StatusNotFound, webhook), true, false},
		"a webhook's own 409":                {answered(http.StatusConflict, webhook), true, false},
		"a webhook's own 409 with a reason":  {fmt.Errorf("create: %w", reasoned(answered(http.StatusConflict, webhook), metav1.StatusReasonConflict)), true, false},
		"a webhook's own \"already exists\"": {reasoned(answered(http.StatusConflict, webhook), metav1.StatusReasonAlreadyExists), true, false},
		"a webhook's own 503":                {answered(http.StatusServiceUnavailable, webhook), true, false},
		"a policy's 401":                     {answered(http.StatusUnauthorized, "pods \"c-0\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: no"), true, false},
		"who are you":                        {apierrors.NewUnauthorized("no"), false, false},
		"not found":                          {apierrors.NewNotFound(pods, "c-0"), false, false},
		"there already":                      {apierrors.NewAlreadyExists(pods, "c-0"), false, true},
		"changed meanwhile":                  {apierrors.NewConflict(pods, "c-0", nil), false, true},
		"too many":                           {apierrors.NewTooManyRequests("wait", 1), false, false},
		"an error of the API server's":       {apierrors.NewInternalError(errors.New("etcdserver: no leader")), false, false},
		"a timeout of the API server":        {apierrors.NewTimeoutError("request did not complete within requested timeout", 0), false, false},
		"not ready":                          {apierrors.NewServiceUnavailable("starting"), false, false},
		"the namespace goes":                 {terminating, false, false},
		"something else":                     {errors.New("no"), false, false},
	} {
		if refused, stale := reconcile.Refused(c.err), reconcile.Stale(c.err); refused != c.refused || stale != c.stale {
			t.Errorf("%s: refused is %v, stale %v", title, refused, stale)
		}
	}
}
