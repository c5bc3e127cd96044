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

// DiskClass is the name of the StorageClass of the disks that Disks.Create makes. Nothing else makes volumes of it.
const DiskClass = addons.DiskClass

// disksComponent is the process that shows the disks' images to the kernel. It runs from the first disk on.
const disksComponent = "disks"

// Disks are disks of their own that nodes have, and what goes wrong with them.
type Disks struct{ lab *Lab }

// Disks returns the disks of the lab.
func (l *Lab) Disks() Disks { return Disks{l} }

// Create gives a node a disk: a file system of a fixed size, at least 16 MiB, with a PersistentVolume NODE-NAME of
// class DiskClass, which a claim of that class gets. The disk is given as NODE/NAME; the node must run. Remove and
// Down remove it.
func (d Disks) Create(ctx context.Context, name string, bytes int64) error {
	id, err := d.parse(name)
	if err != nil {
		return err
	}
	if err := d.store().Create(ctx, id, bytes); err != nil {
		return err
	}
	if err := d.mount(ctx, id); err != nil {
		return err
	}
	root, err := d.files(id)
	if err != nil {
		return err
	}
	if err := disk.Open(root); err != nil {
		return err
	}
	volume, err := addons.DiskVolume(id.Volume(), id.Node, d.path(id), bytes)
	if err != nil {
		return err
	}
	_, err = d.lab.kubectl(ctx, volume, "apply", "--server-side", "-f", "-")
	return err
}

// Remove takes a disk out of its node, and its PersistentVolume out of the cluster. Containers that use it keep
// it until they end.
func (d Disks) Remove(ctx context.Context, name string) error {
	id, err := d.find(name)
	if err != nil {
		return err
	}
	node, err := d.lab.node(id.Node)
	if err != nil {
		return err
	}
	// A claim holds its volume back until the claim is gone, which is not waited for.
	if _, err := d.lab.kubectl(ctx, nil, "delete", "pv", id.Volume(), "--ignore-not-found", "--wait=false"); err != nil {
		return err
	}
	if pid, err := node.Process(); err == nil {
		if err := d.store().Unmount(ctx, pid, d.path(id)); err != nil {
			return err
		}
	}
	return d.store().Remove(id)
}

// Of returns the disk, as NODE/NAME, behind a claim of class DiskClass, given as NAMESPACE/PVC.
func (d Disks) Of(ctx context.Context, claim string) (string, error) {
	volume, path, err := d.lab.volumeOf(ctx, claim)
	if err != nil {
		return "", err
	}
	for _, node := range d.lab.Nodes() {
		if name, found := strings.CutPrefix(path, d.lab.state.Mounts(node)+"/"); found {
			return disk.ID{Node: node, Name: name}.String(), nil
		}
	}
	return "", fmt.Errorf("volume %s of claim %s is not on a disk of its own", volume, claim)
}

// Fill takes all room on a disk, given as NODE/NAME, down to the last byte. Free and Faults.HealNode give it back.
func (d Disks) Fill(_ context.Context, name string) error { return d.withFiles(name, disk.Fill) }

// Free gives back the room that Fill took.
func (d Disks) Free(_ context.Context, name string) error { return d.withFiles(name, disk.Free) }

// Slow makes every flush of a disk, and so every fsync of a file on it, take that long, at least. A long time is a
// disk that hangs. Fast, Faults.KillNode and Faults.HealNode end it, also for flushes under way.
func (d Disks) Slow(_ context.Context, name string, flush time.Duration) error {
	id, err := d.find(name)
	if err != nil {
		return err
	}
	return d.store().SetDelay(id, flush)
}

// Fast undoes Slow.
func (d Disks) Fast(ctx context.Context, name string) error { return d.Slow(ctx, name, 0) }

func (d Disks) store() disk.Store { return disk.Store{Dir: d.lab.state.Disks()} }

func (d Disks) path(id disk.ID) string { return filepath.Join(d.lab.state.Mounts(id.Node), id.Name) }

func (d Disks) parse(name string) (disk.ID, error) {
	id, err := disk.ParseID(name)
	if err != nil {
		return disk.ID{}, err
	}
	_, err = d.lab.node(id.Node)
	return id, err
}

func (d Disks) find(name string) (disk.ID, error) {
	id, err := d.parse(name)
	if err != nil {
		return disk.ID{}, err
	}
	return id, d.store().Check(id)
}

func (d Disks) withFiles(name string, do func(folder string) error) error {
	id, err := d.find(name)
	if err != nil {
		return err
	}
	folder, err := d.files(id)
	if err != nil {
		return err
	}
	return do(folder)
}

// files returns the path through which the host sees what is on a disk, which only its node has mounted.
func (d Disks) files(id disk.ID) (string, error) {
	node, err := d.lab.node(id.Node)
	if err != nil {
		return "", err
	}
	pid, err := node.Process()
	return filepath.Join(disk.Root(pid), d.path(id)), err
}

// mount mounts a disk on its node, which must run.
func (d Disks) mount(ctx context.Context, id disk.ID) error {
	node, err := d.lab.node(id.Node)
	if err != nil {
		return err
	}
	pid, err := node.Process()
	if err != nil {
		return err
	}
	server, err := d.ensureServer(ctx, id)
	if err != nil {
		return err
	}
	return d.store().Mount(ctx, id, server, pid, d.path(id))
}

// mountAll mounts all disks of a node that was booted.
func (d Disks) mountAll(ctx context.Context, node string) error {
	ids, err := d.store().List(node)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.mount(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// each does something with all disks of a node.
func (d Disks) each(node string, do func(disk string) error) error {
	ids, err := d.store().List(node)
	for _, id := range ids {
		err = errors.Join(err, do(id.String()))
	}
	return err
}

// ensureServer returns the process that shows the disks' images, once it shows that of a disk.
func (d Disks) ensureServer(ctx context.Context, id disk.ID) (pid int, err error) {
	spec := d.lab.hostSpec(disksComponent,
		filepath.Join(d.lab.state.Join("bin"), "lab"), "disks", "--dir="+d.lab.state.Disks())
	// In a mount namespace of its own: what it mounts is gone when it is.
	spec.Enter = []string{"unshare", "--mount", "--propagation=private"}
	record, err := process.Ensure(spec)
	if err != nil {
		return 0, err
	}
	ready := func(context.Context) error { return d.store().Ready(record.PID, id) }
	return record.PID, record.WaitReady(ctx, ready)
}

// optionalComponents lists the processes that run only in labs that need them.
func (l *Lab) optionalComponents() []string {
	candidates := append([]string{disksComponent, certManagerComponent}, objectstore.Names()...)
	for _, name := range l.Nodes() {
		candidates = append(candidates, linkComponent(name), policiesComponent(name))
	}
	return slices.DeleteFunc(candidates, func(name string) bool {
		_, err := process.Read(l.recordFile(name))
		return errors.Is(err, fs.ErrNotExist)
	})
}
