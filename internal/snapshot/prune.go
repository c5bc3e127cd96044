package snapshot

import (
	"context"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Prune deletes what the policy does not keep of a writer's backups among those that were listed, and what the writer has
// left unfinished. The one that was taken last stays, whatever its name, so that nobody is told of one that is gone. It
// returns the backups that it has deleted, also with an error.
func Prune(ctx context.Context, b *blobstore.Bucket, l Listing, p task.Policy, last Manifest, now time.Time) ([]Manifest, error) {
	var deleted []Manifest
	writerUID := last.Writer.UID
	for _, m := range Expired(l.Snapshots, p, writerUID, now) {
		if m.Object == last.Object {
			continue
		}
		if err := Delete(ctx, b, m); err != nil {
			return deleted, err
		}
		deleted = append(deleted, m)
	}
	for _, object := range Leftovers(l.Strays, writerUID, now) {
		if err := b.Delete(ctx, object); err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// Sweep removes what a writer that was killed has left on a volume and nobody finds by an object's name. It returns how much
// that was.
func Sweep(b *blobstore.Bucket, writerUID string, now time.Time) (int, error) {
	return b.Sweep(now.Add(-leftoverAge), func(object string) bool {
		return writtenBy(strings.TrimSuffix(object, extensionManifest), writerUID)
	})
}
