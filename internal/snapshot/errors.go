package snapshot

import (
	"context"
	"errors"
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Explain converts any error of this package or the storage to a Problem.
func Explain(err error) failure.Problem {
	if p, ok := failure.Of(err); ok {
		return p
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failure.Problem{
			Reason: v1beta2.ReasonTimeout, Message: "timed out: " + err.Error(),
		}
	}
	return failure.Problem{Reason: v1beta2.ReasonSnapshotFailed, Message: err.Error()}
}

func damaged(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return failure.Because(errors.Unwrap(err), failure.Problem{
		Reason: v1beta2.ReasonSnapshotDamaged, Terminal: true,
		Message: err.Error() + "; use another snapshot",
	})
}
