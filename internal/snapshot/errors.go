package snapshot

import (
	"context"
	"errors"
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
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

// isKeyRefused reports whether an object cannot be read with the key that was given, or without one.
func isKeyRefused(err error) bool {
	return err != nil && Explain(err).Reason == v1beta2.ReasonEncryptionKeyRefused
}

// corrupt says that an object is not the one that its manifest describes.
func corrupt(b *blobstore.Bucket, m Manifest) error {
	return damaged("%s is corrupt: its checksum does not match the manifest's", b.URL(m.Object))
}

func damaged(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return failure.Because(errors.Unwrap(err), failure.Problem{
		Reason: v1beta2.ReasonSnapshotDamaged, Terminal: true,
		Message: err.Error() + "; use another snapshot",
	})
}
