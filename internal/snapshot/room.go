package snapshot

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// CheckRoom checks that a snapshot of a size can be restored on the volume of a folder, of which so much is there already, both in
// bytes: before gigabytes are read for nothing, and because etcd's library exits the process when the volume is full. Field is the field
// of the spec with the volume's size.
func CheckRoom(folder string, size, there int64, field string) error {
	disk, err := spaceOf(folder)
	if err != nil {
		return scratchError("determine the free space on the volume of "+folder, err)
	}
	if task.RestoreRoom(size)-there <= disk.free {
		return nil
	}
	return failure.New(failure.Problem{Reason: v1beta2.ReasonScratchFailed, Message: fmt.Sprintf(
		"not enough space on the pod's volume: %s are free, and %s", failure.Mebibytes(disk.free), needs(size, field))})
}

// WithRoom adds to an error of a volume how large it has to be to restore a snapshot of a size.
func WithRoom(err error, size int64, field string) error {
	p, _ := failure.Of(err)
	if p.Reason != v1beta2.ReasonScratchFailed {
		return err
	}
	p.Message += "; " + needs(size, field)
	return failure.Because(err, p)
}

func needs(size int64, field string) string {
	return fmt.Sprintf("restoring a snapshot of %s takes %s, for the snapshot and for etcd's data at the same time: raise %s",
		failure.Mebibytes(size), failure.Mebibytes(task.RestoreRoom(size)), field)
}
