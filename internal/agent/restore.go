package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// memberFolder is a folder that etcd's data folder always has.
const memberFolder = "member"

// VolumeField is where the spec of an EtcdCluster says how large its members' volumes are.
const VolumeField = "spec.pod.persistentVolumeClaimSpec"

// fetched is the file that a snapshot is read into: on the volume of the data, which must have room for it.
func fetched(folder string) string { return folder + ".snapshot" }

// restored reports whether the data exists already, and removes what an interrupted attempt has left.
func restored(folder string) (bool, error) {
	for _, left := range []string{folder + snapshot.Restoring, fetched(folder)} {
		if err := os.RemoveAll(left); err != nil {
			return false, scratchError(err)
		}
	}
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return false, nil
	case err != nil:
		return false, scratchError(err)
	case !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == memberFolder }):
		return false, failure.New(failure.Problem{Reason: v1beta2.ReasonScratchFailed, Terminal: true, Message: fmt.Sprintf(
			"%s holds something other than etcd data, such as %s, which is not overwritten: use another volume",
			folder, entries[0].Name())})
	}
	return true, nil
}

// restore creates the data folder atomically.
func (r *runner) restore(ctx context.Context) error {
	t := r.Restore
	file := fetched(t.Folder)
	defer func() { _ = os.Remove(file) }()
	known, found, err := snapshot.Find(ctx, r.bucket, t.Object)
	if err != nil {
		return err
	}
	var manifest *snapshot.Manifest
	if found {
		manifest = &known
	}
	m, err := r.fetch(ctx, t.Object, manifest, file, VolumeField)
	if err != nil {
		return err
	}
	if m.StoredSHA256 != t.SHA256 {
		return failure.New(failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged, Terminal: true, Message: fmt.Sprintf(
			"%s has changed since it was verified: its SHA-256 is %s and was %s; create another EtcdRestore, of it or another snapshot",
			r.bucket.URL(t.Object), m.StoredSHA256, t.SHA256)})
	}
	r.at.step(task.StepRestoring)
	before, err := abandon(ctx, func() (snapshot.Outline, error) {
		before, _, err := snapshot.Restore(file, t.Folder, t.EtcdVersion, t.Identity, t.RevisionFloor)
		return before, err
	})
	if err != nil {
		return snapshot.WithRoom(err, m.Size, VolumeField)
	}
	if !found {
		m.Revision, m.EtcdVersion = before.Current, before.Version
	}
	r.result.Snapshot = r.describe(m, v1beta2.VerifyRestore)
	return nil
}

func scratchError(err error) error {
	return failure.New(failure.Problem{
		Reason:  v1beta2.ReasonScratchFailed,
		Message: fmt.Sprintf("the pod's volume failed: %v; check that it is mounted, writable and large enough", err),
	})
}
