package snapshot

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// VerifyChecksum reads a backup whole and compares it with its manifest.
func VerifyChecksum(ctx context.Context, b *blobstore.Bucket, m Manifest, key *Key, p Progress) error {
	return fetchOwn(ctx, b, m, key, io.Discard, p)
}

// VerifyCiphertext reads the object of a backup whole and compares it with its manifest, for who cannot decrypt it: it is the object
// that was uploaded. That what was encrypted there can be restored is not proved.
func VerifyCiphertext(ctx context.Context, b *blobstore.Bucket, m Manifest, p Progress) error {
	watched, touch, stop := watch(ctx, stallLimit)
	defer stop()
	r, err := b.Open(watched, m.Object)
	if err != nil {
		return stalled(watched, err)
	}
	defer func() { _ = r.Close() }()
	sum := newMeter()
	if _, err := io.CopyBuffer(sum, &tracked{Reader: r, touch: touch, progress: p}, make([]byte, bufferSize)); err != nil {
		return stalled(watched, explainRead(b.URL(m.Object), err))
	}
	if sum.size != m.StoredSize || sum.sum() != m.StoredSHA256 {
		return corrupt(b, m)
	}
	return nil
}

// ScratchField is where a spec says on which volume a backup is restored on trial.
const ScratchField = "spec.pod.scratch"

// VerifyRestore reads a backup whole, compares it with its manifest, restores it below the scratch folder, and compares
// what is in it with what etcd had. The scratch folder needs RestoreRoom. Nothing is left there.
func VerifyRestore(ctx context.Context, b *blobstore.Bucket, m Manifest, key *Key, scratch string, p Progress) (Content, error) {
	folder, err := os.MkdirTemp(scratch, "verify-*")
	if err != nil {
		return Content{}, scratchError("create a folder", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := CheckRoom(folder, m.Size, 0, ScratchField); err != nil {
		return Content{}, err
	}
	file := filepath.Join(folder, "snapshot.db")
	if _, err := FetchFile(ctx, b, m.Object, &m, key, file, p); err != nil {
		return Content{}, WithRoom(err, m.Size, ScratchField)
	}
	content, err := Try(file, filepath.Join(folder, "data"), m.Revision)
	if err != nil {
		return Content{}, WithRoom(err, m.Size, ScratchField)
	}
	return content, compare(m, content)
}

// Try restores a snapshot in a file into a folder, which must not exist, as Restore does, but for the revision, and compares
// what is in the two. It returns what is in the snapshot; see Inspect.
func Try(file, folder string, at int64) (Content, error) {
	before, err := Inspect(file, at)
	if err != nil {
		return Content{}, err
	}
	if err := extract(file, folder, trial, 0, before.Database); err != nil {
		return Content{}, err
	}
	after, err := Inspect(databaseIn(folder), at)
	if err != nil {
		return Content{}, err
	}
	if after.Hash != before.Hash || after.Revision != before.Revision || after.Keys != before.Keys ||
		len(after.Database.Alarms) > 0 {
		return Content{}, damaged("the restored database differs from the snapshot: "+
			"revision %d and %d keys, with %d alarms, instead of %d and %d, with none",
			after.Revision, after.Keys, len(after.Database.Alarms), before.Revision, before.Keys)
	}
	return before, nil
}

// trial is the member that backups are restored for to see whether they can be.
var trial = task.Identity{Name: "trial", PeerURL: "http://localhost:2380", Token: "trial"}

// compare reports whether a database is what was backed up. What was written after the revision was asked for may be in it.
func compare(m Manifest, c Content) error {
	switch {
	case c.Current < m.Revision:
		return damaged("%s ends at revision %d, but etcd had %d", m.Object, c.Current, m.Revision)
	case c.KeysAt >= 0 && c.KeysAt != m.Keys:
		return damaged("%s has %d keys at revision %d, but etcd had %d", m.Object, c.KeysAt, m.Revision, m.Keys)
	}
	return nil
}
