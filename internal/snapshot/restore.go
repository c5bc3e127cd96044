package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Masterminds/semver/v3"
	etcdutl "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// RevisionBump is how far a restore moves the revision ahead of all that is known to have been seen: more than a cluster gets
// through in a week at 1500 writes a second, so that nobody sees a revision that meant something else before.
const RevisionBump = 1_000_000_000

// floorLimit is the highest floor that is gone by. One above cannot be true, and would leave no room to go on raising.
const floorLimit = revisionLimit / 2

// raised is the revision of what is restored of a snapshot that etcd had at a revision.
func raised(current, floor int64) int64 { return max(current, min(floor, floorLimit)) + RevisionBump }

// Identity is the only member of the cluster that a snapshot is restored for. The others join it.
type Identity struct {
	// Name and PeerURL are the member's.
	Name, PeerURL string
	// Token must not have been used before: the IDs of the member and the cluster are made from it and the peer URL.
	Token string
}

// Restoring is what a folder's name has behind it until it is whole.
const Restoring = ".restoring"

// Restore makes a member's data folder of a snapshot, which must end with etcd's checksum. The revision becomes RevisionBump
// above the snapshot's, or above the floor, the highest that is known to have been seen, if that is higher; everything before
// counts as compacted, so that watchers start anew. Alarms are cleared. EtcdVersion is the version that is going to run on
// it. The folder must not exist, or be empty, and appears at once: an interrupted restore leaves only <folder>.restoring,
// which the next one removes. The volume needs RestoreRoom. Restore returns what is in the snapshot, and what is in the folder
// then.
func Restore(snapshot, folder, etcdVersion string, who Identity, floor int64) (before, after Outline, err error) {
	if err := vacant(folder); err != nil {
		return before, after, err
	}
	if before, err = outline(snapshot); err != nil {
		return before, after, err
	}
	if err := CheckVersion(before.Version, etcdVersion); err != nil {
		return before, after, err
	}
	temporary := folder + Restoring
	if err := os.RemoveAll(temporary); err != nil {
		return before, after, scratchError("remove an earlier try", err)
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

// vacant tells whether nothing is lost by a folder of that name.
func vacant(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return scratchError("look into "+folder, err)
	case len(entries) > 0:
		return fmt.Errorf("restore into %s: there is data already, and nothing is overwritten", folder)
	}
	return nil
}

// place moves the folder to its name, for good.
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
		return scratchError("put the restored data in its place", err)
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
func extract(snapshot, folder string, who Identity, bump int64, of v1beta2.SnapshotDatabase) error {
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

// CheckVersion tells whether an etcd version, major.minor.patch, can start from data of a version, major.minor: its own, or
// the one before it. Data that names no version is taken.
func CheckVersion(data, etcdVersion string) error {
	target, err := semver.StrictNewVersion(etcdVersion)
	if err != nil {
		return fmt.Errorf("the etcd version %q is none: %w", etcdVersion, err)
	}
	if data == "" {
		return nil
	}
	from, err := semver.NewVersion(data)
	if err != nil {
		return damaged("the data's version %q is none: %w", data, err)
	}
	refuse := func(advice string) error {
		return failure.New(failure.Problem{Reason: v1beta2.ReasonSnapshotVersion, Terminal: true, Message: fmt.Sprintf(
			"the snapshot is of etcd %s, and etcd %s cannot start from it: %s", data, etcdVersion, advice)})
	}
	switch {
	case from.Major() != target.Major():
		return refuse(fmt.Sprintf("restore it with etcd %s", data))
	case from.Minor() > target.Minor():
		return refuse(fmt.Sprintf("set the version to %d.%d or later", from.Major(), from.Minor()))
	case from.Minor()+1 < target.Minor():
		return refuse(fmt.Sprintf("restore it with %d.%d or %d.%d, and upgrade one minor version at a time",
			from.Major(), from.Minor(), from.Major(), from.Minor()+1))
	}
	return nil
}
