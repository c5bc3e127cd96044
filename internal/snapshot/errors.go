package snapshot

import (
	"context"
	"errors"
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// Error is what went wrong with a snapshot, or with the etcd that it comes from.
type Error struct {
	// Reason is one of the snapshot reasons in api/v1beta2, for conditions, events and metrics.
	Reason string
	// Message says what went wrong and what to do. It holds no credentials.
	Message string
	// Lasting is true if another try cannot go better before somebody changes something.
	Lasting bool

	cause error
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the cause, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// Explain gives the reason, the message, and whether it is lasting, of any error of this package and of blobstore.
func Explain(err error) (reason, message string, lasting bool) {
	var (
		own     *Error
		storage *blobstore.Error
	)
	switch {
	case errors.As(err, &own):
		return own.Reason, err.Error(), own.Lasting
	case errors.As(err, &storage):
		return storage.Reason, err.Error(), storage.Lasting
	case errors.Is(err, context.DeadlineExceeded):
		return v1beta2.ReasonTimeout, "it took longer than it may: " + err.Error(), false
	}
	return v1beta2.ReasonSnapshotFailed, err.Error(), false
}

func damaged(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{
		Reason: v1beta2.ReasonSnapshotDamaged, Lasting: true, cause: errors.Unwrap(err),
		Message: err.Error() + "; use another snapshot",
	}
}
