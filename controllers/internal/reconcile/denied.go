package reconcile

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Denied reports whether an admission webhook or policy of the user's has denied a request. It chooses the code itself, so that nothing
// else follows from that: with 404 the object may well be there.
func Denied(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "admission webhook ") && strings.Contains(text, " denied the request") ||
		strings.Contains(text, "ValidatingAdmissionPolicy ") && strings.Contains(text, " denied request: ")
}

// Gone reports whether a write failed because the object does not exist.
func Gone(err error) bool { return apierrors.IsNotFound(err) && !Denied(err) }

// Exists reports whether an object was not created because there is one of its name.
func Exists(err error) bool { return apierrors.IsAlreadyExists(err) && !Denied(err) }

// IgnoreGone returns nil for the error of a write to an object that does not exist.
func IgnoreGone(err error) error {
	if Gone(err) {
		return nil
	}
	return err
}
