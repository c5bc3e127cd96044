package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	etcdutl "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// floorLimit is the highest floor that is respected. A higher one is implausible, and could not be raised further.
const floorLimit = revisionLimit / 2

// raised is the revision of a restored snapshot that etcd had at a revision.
func raised(current, floor int64) int64 {
	return max(current, min(floor, floorLimit)) + task.RevisionBump
}

// Restoring is the suffix of a folder's name until it is complete.
const Restoring = ".restoring"

// Restore creates a member's data folder from a snapshot, which must end with etcd's checksum. The revision becomes RevisionBump
// above the snapshot's, or above the floor, the highest one that clients may have seen, if that is higher; everything before
// counts as compacted, so that watchers restart. Alarms are cleared. EtcdVersion is the version that is going to run on it. The
// folder must not exist, or be empty, and is created atomically: an interrupted restore leaves only <folder>.restoring, which the
// next one removes. The volume needs RestoreRoom. Restore returns the content of the snapshot, and that of the folder.
func Restore(snapshot, folder, etcdVersion string, who task.Identity, floor int64) (before, after Outline, err error) {
	if err := vacant(folder); err != nil {
		return before, after, err
	}
	if before, err = outline(snapshot); err != nil {
		return before, after, err
	}
	if err := task.CheckVersion(before.Version, etcdVersion); err != nil {
		return before, after, err
	}
	temporary := folder + Restoring
	if err := os.RemoveAll(temporary); err != nil {
		return before, after, scratchError("remove what an earlier attempt left", err)
	}
	revision := raised(before.Current, floor)
	// The library counts from the latest key, which a compaction can have taken.
	if err := extract(snapshot, temporary, who, revision-before.Revision, before.Database); err != nil {
		return before, after, err
	}
	if after, err = outline(databaseIn(temporary)); err != nil {
		return before, after, err
	}
	// The bump is a revision of no key.
	if after.Revision != revision || after.Revisions != before.Revisions+1 || len(after.Database.Alarms) > 0 {
		return before, after, damaged("the restored database differs from the snapshot: "+
			"its revision is %d, and it has %d in all, with %d alarms, instead of %d and %d, with none",
			after.Revision, after.Revisions, len(after.Database.Alarms), revision, before.Revisions+1)
	}
	return before, after, place(temporary, folder)
}

// vacant reports whether nothing is lost by a folder of that name.
func vacant(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return scratchError("read "+folder, err)
	case len(entries) > 0:
		return fmt.Errorf("restore into %s: it already holds data, which is not overwritten", folder)
	}
	return nil
}

// place moves the folder to its name, durably.
func place(temporary, folder string) error {
	err := filepath.WalkDir(temporary, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncPath(path)
	})
	if err == nil {
		err = os.Rename(temporary, folder)
	}
	if err == nil {
		err = syncPath(filepath.Dir(folder))
	}
	if err != nil {
		return scratchError("move the restored data into place", err)
	}
	return nil
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return f.Sync()
}

// extract has etcd's own library write the data folder, without the alarms of the snapshot's database. It bumps only if it is
// told both what by and to compact.
func extract(snapshot, folder string, who task.Identity, bump int64, of v1beta2.SnapshotDatabase) error {
	err := etcdutl.NewV3(zap.NewNop()).Restore(etcdutl.RestoreConfig{
		SnapshotPath: snapshot, OutputDataDir: folder, Name: who.Name, PeerURLs: []string{who.PeerURL},
		InitialCluster: who.Name + "=" + who.PeerURL, InitialClusterToken: who.Token,
		RevisionBump: uint64(bump), MarkCompacted: bump > 0, //nolint:gosec // not negative: see raised
	})
	if err != nil {
		err = scratchError("restore the snapshot", err)
	} else if len(of.Alarms) > 0 {
		err = clearAlarms(databaseIn(folder))
	}
	if err != nil {
		_ = os.RemoveAll(folder)
	}
	return err
}

func databaseIn(folder string) string { return filepath.Join(folder, "member", "snap", "db") }
