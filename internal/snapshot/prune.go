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

// Prune deletes those of a writer's listed backups that the policy does not retain, and what the writer has left unfinished. The
// last one taken is always retained, whatever its name, because status reports it. It returns the backups that it has deleted, also
// with an error: one that the storage locks stays a backup, and does not keep the others from being deleted.
func Prune(ctx context.Context, b *blobstore.Bucket, l Listing, p task.Policy, last Manifest, now time.Time) ([]Manifest, error) {
	expired := slices.DeleteFunc(Expired(l.Snapshots, p, last.Writer.UID, now), func(m Manifest) bool {
		return m.Object == last.Object
	})
	deleted, _, err := DeleteAll(ctx, b, expired, Leftovers(l.Orphans, last.Writer.UID, now))
	return deleted, err
}

// DeleteAll deletes backups, and objects without a manifest. One that the storage refuses to delete, for example because it is
// locked, stays, and does not keep the others from being deleted: the error names the first, and how many there are. It returns what
// it has deleted, also with an error.
func DeleteAll(ctx context.Context, b *blobstore.Bucket, all []Manifest, orphans []string) (
	backups []Manifest, objects []string, err error,
) {
	var refused []error
	for _, m := range all {
		err := deleteBackup(ctx, b, m)
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

// deleteBackup deletes a backup. If the storage locks only the object, its manifest is restored: the backup could not be found without
// it, and once the lock has expired the object would be deleted as a leftover.
func deleteBackup(ctx context.Context, b *blobstore.Bucket, m Manifest) error {
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

// several is the error of several objects: one that a retry may fix takes precedence over a terminal one.
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

// Sweep removes the temporary files that a killed writer has left on a volume, which no listing shows. It returns their number.
func Sweep(b *blobstore.Bucket, writerUID string, now time.Time) (int, error) {
	return b.Sweep(now.Add(-leftoverAge), func(object string) bool {
		return writtenBy(strings.TrimSuffix(object, extensionManifest), writerUID)
	})
}
