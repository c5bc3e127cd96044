package task

import (
	"fmt"
	"math"

	"github.com/Masterminds/semver/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// RevisionBump is how far a restore moves the revision beyond every one that clients may have seen: more than a cluster uses in a
// week at 1500 writes a second, so that no client sees a revision that meant something else before.
const RevisionBump = 1_000_000_000

// logRoom is the size of etcd's log before anything is written, in bytes: two segments are preallocated
// (SegmentSizeBytes in etcd's package wal).
const logRoom = 2 * 64 << 20

// RestoreRoom is how many bytes must be free on a volume to restore a snapshot of a size, in bytes: for the snapshot as it was
// read, for the database that etcd's library makes of it at the same time, and for etcd's log.
func RestoreRoom(size int64) int64 { return 2*min(size, math.MaxInt64/4) + logRoom }

// CheckVersion reports whether an etcd version, major.minor.patch, can start from data of a version, major.minor: its own, or
// the one before it. Data without a version is accepted. The error is a failure.Error.
func CheckVersion(data, etcdVersion string) error {
	target, err := semver.StrictNewVersion(etcdVersion)
	if err != nil {
		return failure.Because(err, failure.Problem{
			Reason: v1beta2.ReasonSnapshotFailed, Message: fmt.Sprintf("%q is not an etcd version: %v", etcdVersion, err),
		})
	}
	if data == "" {
		return nil
	}
	from, err := semver.NewVersion(data)
	if err != nil {
		return failure.Because(err, failure.Problem{
			Reason: v1beta2.ReasonSnapshotDamaged, Terminal: true,
			Message: fmt.Sprintf("the data's version %q is not an etcd version: %v; use another snapshot", data, err),
		})
	}
	refuse := func(advice string) error {
		return failure.New(failure.Problem{Reason: v1beta2.ReasonSnapshotVersion, Terminal: true, Message: fmt.Sprintf(
			"the snapshot is of etcd %s, which etcd %s cannot start from: %s", data, etcdVersion, advice)})
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
