package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/disk"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/objectstore"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// DiskClass is the name of the StorageClass of the disks that CreateDisk makes. Nothing else makes volumes of it.
const DiskClass = addons.DiskClass

// disksComponent is the process that shows the disks' images to the kernel. It runs from the first disk on.
const disksComponent = "disks"

// CreateDisk gives a node a disk: a file system of a fixed size, at least 16 MiB, with a PersistentVolume NODE-NAME of
// class DiskClass, which a claim of that class gets. The disk is given as NODE/NAME; the node must run. RemoveDisk and
// Down remove it.
func (l *Lab) CreateDisk(ctx context.Context, name string, bytes int64) error {
	id, err := l.parseDisk(name)
	if err != nil {
		return err
	}
	if err := l.disks().Create(ctx, id, bytes); err != nil {
		return err
	}
	if err := l.mountDisk(ctx, id); err != nil {
		return err
	}
	root, err := l.diskFiles(id)
	if err != nil {
		return err
	}
	if err := disk.Open(root); err != nil {
		return err
	}
	volume, err := addons.DiskVolume(id.Volume(), id.Node, l.diskPath(id), bytes)
	if err != nil {
		return err
	}
	_, err = l.kubectl(ctx, volume, "apply", "--server-side", "-f", "-")
	return err
}

// RemoveDisk takes a disk out of its node, and its PersistentVolume out of the cluster. Containers that use it keep
// it until they end.
func (l *Lab) RemoveDisk(ctx context.Context, name string) error {
	id, err := l.findDisk(name)
	if err != nil {
		return err
	}
	node, err := l.node(id.Node)
	if err != nil {
		return err
	}
	// A claim holds its volume back until the claim is gone, which is not waited for.
	if _, err := l.kubectl(ctx, nil, "delete", "pv", id.Volume(), "--ignore-not-found", "--wait=false"); err != nil {
		return err
	}
	if pid, err := node.Process(); err == nil {
		if err := l.disks().Unmount(ctx, pid, l.diskPath(id)); err != nil {
			return err
		}
	}
	return l.disks().Remove(id)
}

// DiskOf returns the disk, as NODE/NAME, behind a claim of class DiskClass, given as NAMESPACE/PVC.
func (l *Lab) DiskOf(ctx context.Context, claim string) (string, error) {
	volume, path, err := l.volumeOf(ctx, claim)
	if err != nil {
		return "", err
	}
	for _, node := range l.Nodes() {
		if name, found := strings.CutPrefix(path, l.state.Mounts(node)+"/"); found {
			return disk.ID{Node: node, Name: name}.String(), nil
		}
	}
	return "", fmt.Errorf("volume %s of claim %s is not on a disk of its own", volume, claim)
}

// FillDisk takes all room on a disk, given as NODE/NAME, down to the last byte. FreeDisk and HealNode give it back.
func (l *Lab) FillDisk(_ context.Context, name string) error { return l.withDiskFiles(name, disk.Fill) }

// FreeDisk gives back the room that FillDisk took.
func (l *Lab) FreeDisk(_ context.Context, name string) error { return l.withDiskFiles(name, disk.Free) }

// SlowDisk makes every flush of a disk, and so every fsync of a file on it, take that long, at least. A long time is a
// disk that hangs. FastDisk, KillNode and HealNode end it, also for flushes under way.
func (l *Lab) SlowDisk(_ context.Context, name string, flush time.Duration) error {
	id, err := l.findDisk(name)
	if err != nil {
		return err
	}
	return l.disks().SetDelay(id, flush)
}

// FastDisk undoes SlowDisk.
func (l *Lab) FastDisk(ctx context.Context, name string) error { return l.SlowDisk(ctx, name, 0) }

func (l *Lab) disks() disk.Store { return disk.Store{Dir: l.state.Disks()} }

func (l *Lab) diskPath(id disk.ID) string { return filepath.Join(l.state.Mounts(id.Node), id.Name) }

func (l *Lab) parseDisk(name string) (disk.ID, error) {
	id, err := disk.ParseID(name)
	if err != nil {
		return disk.ID{}, err
	}
	_, err = l.node(id.Node)
	return id, err
}

func (l *Lab) findDisk(name string) (disk.ID, error) {
	id, err := l.parseDisk(name)
	if err != nil {
		return disk.ID{}, err
	}
	return id, l.disks().Check(id)
}

func (l *Lab) withDiskFiles(name string, do func(folder string) error) error {
	id, err := l.findDisk(name)
	if err != nil {
		return err
	}
	folder, err := l.diskFiles(id)
	if err != nil {
		return err
	}
	return do(folder)
}

// diskFiles returns the path through which the host sees what is on a disk, which only its node has mounted.
func (l *Lab) diskFiles(id disk.ID) (string, error) {
	node, err := l.node(id.Node)
	if err != nil {
		return "", err
	}
	pid, err := node.Process()
	return filepath.Join(disk.Root(pid), l.diskPath(id)), err
}

// mountDisk mounts a disk on its node, which must run.
func (l *Lab) mountDisk(ctx context.Context, id disk.ID) error {
	node, err := l.node(id.Node)
	if err != nil {
		return err
	}
	pid, err := node.Process()
	if err != nil {
		return err
	}
	server, err := l.ensureDisks(ctx, id)
	if err != nil {
		return err
	}
	return l.disks().Mount(ctx, id, server, pid, l.diskPath(id))
}

// mountDisks mounts all disks of a node that was booted.
func (l *Lab) mountDisks(ctx context.Context, node string) error {
	ids, err := l.disks().List(node)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := l.mountDisk(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// eachDisk does something with all disks of a node.
func (l *Lab) eachDisk(node string, do func(disk string) error) error {
	ids, err := l.disks().List(node)
	for _, id := range ids {
		err = errors.Join(err, do(id.String()))
	}
	return err
}

// ensureDisks returns the process that shows the disks' images, once it shows that of a disk.
func (l *Lab) ensureDisks(ctx context.Context, id disk.ID) (pid int, err error) {
	spec := l.hostSpec(disksComponent, filepath.Join(l.state.Join("bin"), "lab"), "disks", "--dir="+l.state.Disks())
	// In a mount namespace of its own: what it mounts is gone when it is.
	spec.Enter = []string{"unshare", "--mount", "--propagation=private"}
	record, err := process.Ensure(spec)
	if err != nil {
		return 0, err
	}
	ready := func(context.Context) error { return l.disks().Ready(record.PID, id) }
	return record.PID, record.WaitReady(ctx, ready)
}

// optionalComponents lists the processes that run only in labs that need them.
func (l *Lab) optionalComponents() []string {
	candidates := append([]string{disksComponent}, objectstore.Names()...)
	for _, name := range l.Nodes() {
		candidates = append(candidates, linkComponent(name))
	}
	return slices.DeleteFunc(candidates, func(name string) bool {
		_, err := process.Read(l.recordFile(name))
		return errors.Is(err, fs.ErrNotExist)
	})
}
