package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/disk"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/objectstore"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// Stop ends an addon's server at once, or as soon as it has written down what it has: connections end, and new
// ones are refused. If it does not run, nothing happens. Start and Heal start it with the objects that it
// had.
func (a Addons) Stop(ctx context.Context, name string) error {
	kind, err := objectstore.Find(name)
	if err != nil {
		return err
	}
	record, err := a.process(name)
	if errors.Is(err, ErrNoAddon) {
		return nil
	} else if err != nil {
		return err
	}
	if err := process.Stop(ctx, kind.Grace, record); err != nil {
		return err
	}
	if err := os.Remove(a.lab.recordFile(name)); err != nil {
		return fmt.Errorf("forget addon %s: %w", name, err)
	}
	return nil
}

// Freeze stops an addon's server with SIGSTOP: it takes connections, and says nothing. Heal undoes it.
func (a Addons) Freeze(_ context.Context, name string) error {
	record, err := a.process(name)
	if err != nil {
		return err
	}
	return record.Signal(syscall.SIGSTOP)
}

// Cut lets so many bytes more through to an addon, counted over all connections and with all headers, at least 0.
// Then it resets connections to it, and refuses new ones. What the addon had of an upload stays there. Heal
// undoes it.
func (a Addons) Cut(ctx context.Context, name string, after int64) error {
	if after < 0 {
		return fmt.Errorf("a connection is cut after 0 bytes or more, not %d", after)
	}
	if _, err := a.process(name); err != nil {
		return err
	}
	kind, err := objectstore.Find(name)
	if err != nil {
		return err
	}
	return network.Cut(ctx, name, kind.Port, after)
}

// Fill takes all room on an addon's disk, down to the last byte. Heal gives it back.
func (a Addons) Fill(_ context.Context, name string) error {
	record, err := a.process(name)
	if err != nil {
		return err
	}
	return disk.Fill(filepath.Join(disk.Root(record.PID), objectstore.Disk(a.lab.state.Addon(name))))
}

// Seal lets clients read an addon's bucket, but refuses them to write or delete anything in it, as it does to
// users without the permission. Only MinIO can. Heal undoes it.
func (a Addons) Seal(ctx context.Context, name string) error {
	if _, err := a.process(name); err != nil {
		return err
	}
	kind, err := objectstore.Find(name)
	if err != nil {
		return err
	}
	store, err := a.open(ctx, kind, nil)
	if err != nil {
		return err
	}
	return store.Seal(ctx)
}

// ErrNoAddon is returned where an addon must run and does not.
var ErrNoAddon = errors.New("the lab does not run this addon")

// process returns the process of an addon that was started.
func (a Addons) process(name string) (process.Record, error) {
	if _, err := objectstore.Find(name); err != nil {
		return process.Record{}, err
	}
	record, err := process.Read(a.lab.recordFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return process.Record{}, fmt.Errorf("%w: %s", ErrNoAddon, name)
	}
	return record, err
}
