package snapshot

import (
	"context"
	"errors"
	"io"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// stallLimit is how long nothing may move: at its slowest, a storage takes a part of an upload in that time.
const stallLimit = 5 * time.Minute

var errStalled = failure.New(failure.Problem{
	Reason:  v1beta2.ReasonSnapshotStalled,
	Message: "no data was transferred for minutes; check whether etcd, the storage or the network in between hangs",
})

// Progress is told how many bytes of a snapshot have been read in all. It must not block.
type Progress func(bytes int64)

// watch gives a context that ends with errStalled if touch is not called for the limit. Stop must be called.
func watch(ctx context.Context, limit time.Duration) (watched context.Context, touch, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(errStalled) })
	return watched, func() { timer.Reset(limit) }, func() { timer.Stop(); cancel(context.Canceled) }
}

// stalled is errStalled if that is why it failed: what the libraries say then is only that they were cancelled.
func stalled(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// tracked tells how far the reading is.
type tracked struct {
	io.Reader
	touch    func()
	progress Progress
	bytes    int64
}

func (t *tracked) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.bytes += int64(n)
	if n > 0 {
		t.touch()
		if t.progress != nil {
			t.progress(t.bytes)
		}
	}
	return n, err
}
