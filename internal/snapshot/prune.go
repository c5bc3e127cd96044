package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Prune deletes what the policy does not keep of a writer's backups among those that were listed, and what the writer has
// left unfinished. The one that was taken last stays, whatever its name, so that nobody is told of one that is gone. It
// returns the backups that it has deleted, also with an error: what the storage holds stays a backup, and is in no other's way.
func Prune(ctx context.Context, b *blobstore.Bucket, l Listing, p task.Policy, last Manifest, now time.Time) ([]Manifest, error) {
	expired := slices.DeleteFunc(Expired(l.Snapshots, p, last.Writer.UID, now), func(m Manifest) bool {
		return m.Object == last.Object
	})
	deleted, _, err := DeleteAll(ctx, b, expired, Leftovers(l.Orphans, last.Writer.UID, now))
	return deleted, err
}

// DeleteAll deletes backups, and objects without a manifest. What the storage refuses to delete, as while it is held, stays as
// it is, and keeps nothing from the others: the error tells of the first such one, and how many there are. It returns what it
// has deleted, also with an error.
func DeleteAll(ctx context.Context, b *blobstore.Bucket, all []Manifest, orphans []string) (
	backups []Manifest, objects []string, err error,
) {
	var refused []error
	for _, m := range all {
		err := release(ctx, b, m)
		if err == nil {
			backups = append(backups, m)
			continue
		}
		if refused = append(refused, err); !ofOne(ctx, err) {
			return backups, objects, several(refused)
		}
	}
	for _, object := range orphans {
		err := b.Delete(ctx, object)
		if err == nil {
			objects = append(objects, object)
			continue
		}
		if refused = append(refused, err); !ofOne(ctx, err) {
			break
		}
	}
	return backups, objects, several(refused)
}

// release deletes a backup. If the storage holds only the object, its manifest is put back as it was: nobody would find the
// backup without it, and once nothing holds the object any more it would be deleted as a leftover.
func release(ctx context.Context, b *blobstore.Bucket, m Manifest) error {
	manifest, err := b.Read(ctx, manifestName(m.Object), manifestLimit)
	if err != nil && !isGone(err) {
		return err
	}
	err = Delete(ctx, b, m)
	if err == nil || manifest == nil || !ofOne(ctx, err) {
		return err
	}
	here, lookErr := Look(ctx, b, m.Object)
	if lookErr != nil || !here.Has(m.Object) || here.Has(manifestName(m.Object)) {
		return err
	}
	if putErr := put(ctx, b, manifestName(m.Object), manifest); putErr != nil {
		return fmt.Errorf("%w; its manifest was deleted and cannot be rewritten: %w", err, putErr)
	}
	return err
}

// ofOne reports whether the storage refuses to delete one object, and may delete others.
func ofOne(ctx context.Context, err error) bool {
	switch reasonOf(err) {
	case v1beta2.ReasonObjectLocked, v1beta2.ReasonStorageReadOnly:
		return ctx.Err() == nil
	}
	return isRefusal(err) && ctx.Err() == nil
}

// several is the error of several objects: the one that another try may mend counts for more than one that lasts.
func several(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	passing := slices.IndexFunc(errs, func(err error) bool { return !Explain(err).Terminal })
	if err := errs[max(passing, 0)]; len(errs) > 1 {
		return fmt.Errorf("%w; and %d more", err, len(errs)-1)
	}
	return errs[0]
}

// Sweep removes what a writer that was killed has left on a volume and nobody finds by an object's name. It returns how much
// that was.
func Sweep(b *blobstore.Bucket, writerUID string, now time.Time) (int, error) {
	return b.Sweep(now.Add(-leftoverAge), func(object string) bool {
		return writtenBy(strings.TrimSuffix(object, extensionManifest), writerUID)
	})
}
