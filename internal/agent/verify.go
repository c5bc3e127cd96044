package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// verify reads the whole chosen snapshot. By default that is the latest one. If it is damaged no older one silently replaces it: that
// would give up data, which only a user may decide.
func (r *runner) verify(ctx context.Context) error {
	if r.Verify.Object == "" {
		return r.verifyLatest(ctx)
	}
	m, found, err := snapshot.Find(ctx, r.bucket, r.Verify.Object)
	switch {
	case err != nil:
		return err
	case !found:
		return r.verifyForeign(ctx)
	}
	return r.examine(ctx, m)
}

func (r *runner) verifyLatest(ctx context.Context) error {
	l, err := snapshot.List(ctx, r.bucket, "")
	if err != nil {
		return err
	}
	r.warnOfDamaged(l.Damaged)
	lineage, err := r.choose(l)
	if err != nil {
		return err
	}
	err = r.examine(ctx, lineage.Snapshots[0])
	if isDamaged(err) {
		return r.suggest(ctx, err, lineage.Snapshots[1:])
	}
	return err
}

// examine reads a whole backup and checks whether the etcd version can start from it. During an update from one etcd version to
// another only the database says which version its data is of, so it has to be restored to find out.
func (r *runner) examine(ctx context.Context, m snapshot.Manifest) error {
	data, server := version.Minor(m.StorageVersion), version.Minor(m.EtcdVersion)
	if r.Verify.Trial || data != server {
		content, err := r.try(ctx, m)
		if err != nil {
			return err
		}
		if err := task.CheckVersion(content.Version, r.Verify.EtcdVersion); err != nil {
			return err
		}
		r.found(m, content)
		return nil
	}
	if err := task.CheckVersion(data, r.Verify.EtcdVersion); err != nil {
		return err
	}
	r.at.step(task.StepReading)
	if err := snapshot.VerifyChecksum(ctx, r.bucket, m, r.key, r.at.moved); err != nil {
		return err
	}
	r.result.Snapshot, r.result.DataVersion = r.describe(m, v1beta2.VerifyChecksum), data
	return nil
}

// suggestions is how many older snapshots are read to find a good one.
const suggestions = 5

// suggest adds which older snapshot could be restored instead of a damaged one. It leaves time to report it.
func (r *runner) suggest(ctx context.Context, cause error, older []snapshot.Manifest) error {
	deadline, _ := ctx.Deadline()
	limited, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	advice := "no good older snapshot was found"
	for _, m := range older[:min(suggestions, len(older))] {
		r.at.step(task.StepReading)
		if snapshot.VerifyChecksum(limited, r.bucket, m, r.key, r.at.moved) == nil {
			advice = fmt.Sprintf("the latest good one is of %s: to restore that, set spec.snapshot to %s",
				m.TakenAt.Format(time.RFC3339), m.Object)
			break
		}
	}
	return failure.New(failure.Problem{
		Reason: v1beta2.ReasonSnapshotDamaged, Terminal: true, Message: cause.Error() + "; " + advice,
	})
}

// verifyForeign restores an object without a manifest into the scratch folder, to find out what it is.
func (r *runner) verifyForeign(ctx context.Context) error {
	folder, err := os.MkdirTemp(r.dirs.Scratch, "verify-*")
	if err != nil {
		return scratchError(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "snapshot.db")
	m, err := r.fetch(ctx, r.Verify.Object, nil, file, snapshot.ScratchField)
	if err != nil {
		return err
	}
	r.at.step(task.StepRestoring)
	content, err := abandon(ctx, func() (snapshot.Content, error) { return snapshot.Try(file, filepath.Join(folder, "data"), 0) })
	if err != nil {
		return snapshot.WithRoom(err, m.Size, snapshot.ScratchField)
	}
	if err := task.CheckVersion(content.Version, r.Verify.EtcdVersion); err != nil {
		return err
	}
	r.warnOfAlarms(content.Database.Alarms)
	m.Revision, m.EtcdVersion = content.Current, content.Version
	r.found(m, content)
	return nil
}

// found records the result of a snapshot that was restored on trial.
func (r *runner) found(m snapshot.Manifest, content snapshot.Content) {
	r.result.Snapshot, r.result.DataVersion = r.describe(m, v1beta2.VerifyRestore), content.Version
	r.result.Database = &content.Database
}

// fetch reads a whole snapshot into a file. Its volume must have room for that, and for what is restored of it there. Without a
// manifest the time when the object was written counts as the time when it was taken.
func (r *runner) fetch(
	ctx context.Context, object string, m *snapshot.Manifest, file, field string,
) (found snapshot.Manifest, err error) {
	r.at.step(task.StepReading)
	var taken time.Time
	size := int64(0)
	if m != nil {
		size = m.Size
	} else if size, taken, err = r.stat(ctx, object); err != nil {
		return found, err
	}
	folder := filepath.Dir(file)
	if err := snapshot.CheckRoom(folder, size, 0, field); err != nil {
		return found, err
	}
	if found, err = snapshot.FetchFile(ctx, r.bucket, object, m, r.key, file, r.at.moved); err != nil {
		return found, snapshot.WithRoom(err, size, field)
	}
	if m == nil {
		found.TakenAt = taken
		// A compressed one takes more than the size of its object.
		err = snapshot.CheckRoom(folder, found.Size, found.Size, field)
	}
	return found, err
}

// stat is the size of an object, and when it was written; zero if there is none.
func (r *runner) stat(ctx context.Context, object string) (size int64, written time.Time, err error) {
	for o, err := range r.bucket.List(ctx, object) {
		if err != nil {
			return 0, written, err
		}
		if o.Name == object {
			return o.Size, o.Changed.UTC().Truncate(time.Second), nil
		}
	}
	return 0, written, nil
}
