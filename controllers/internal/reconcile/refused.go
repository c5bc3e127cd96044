package reconcile

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// passing are the codes of answers that say nothing of the write itself, or that the next pass resolves by looking again.
var passing = []int32{
	http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests,
}

// Refused reports whether an error says that the API server refuses a write: it will do so again until someone changes the write, or
// what it is refused by. A webhook chooses the code itself, and a policy among four; one that is not reached, and must be, is a 500.
func Refused(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) || Terminating(err) {
		return false
	}
	s := answer.Status()
	switch {
	case Denied(err):
		return true
	case s.Code == http.StatusInternalServerError:
		return strings.Contains(s.Message, "webhook") // not reached, or with an answer that is no use
	}
	return s.Code >= http.StatusBadRequest && s.Code < http.StatusInternalServerError && !slices.Contains(passing, s.Code)
}

// NamespaceEnds is what every controller says of an object while nothing can be created in its namespace any more.
const NamespaceEnds = "the namespace is being deleted"

// Terminating reports whether a write failed because the namespace is being deleted: nothing can be created there any more.
func Terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
