package snapshot

import (
	"context"
	"io"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// Copy copies a backup to that name, replacing an existing object, and returns its manifest, which is written, too. The existing
// object stays if the copy does not arrive as its manifest describes it.
//
// The data is streamed through this process, because S3's own copy is limited to 5 GiB, and verifies nothing.
func Copy(ctx context.Context, b *blobstore.Bucket, m Manifest, to string, p Progress) (Manifest, error) {
	watched, touch, stop := watch(ctx, stallLimit)
	defer stop()
	copied := m
	copied.Object = to
	return copied, stalled(watched, replace(watched, b, m, copied, touch, p))
}

func replace(ctx context.Context, b *blobstore.Bucket, from, to Manifest, touch func(), p Progress) error {
	r, err := b.Open(ctx, from.Object)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	w, err := b.Create(ctx, to.Object)
	if err != nil {
		return err
	}
	sum := newMeter()
	if _, err := io.Copy(io.MultiWriter(w, sum), &tracked{Reader: r, touch: touch, progress: p}); err != nil {
		w.Abort()
		return err
	}
	if sum.size != from.StoredSize || sum.sum() != from.StoredSHA256 {
		w.Abort()
		return corrupt(b, from)
	}
	// The manifest of what was there must not describe this one.
	if err := b.Delete(ctx, manifestName(to.Object)); err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	touch()
	return describe(ctx, b, to)
}
