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

// StopAddon ends an addon's server at once, or as soon as it has written down what it has: connections end, and new
// ones are refused. If it does not run, nothing happens. StartAddon and HealAddon start it with the objects that it
// had.
func (l *Lab) StopAddon(ctx context.Context, name string) error {
	kind, err := objectstore.Find(name)
	if err != nil {
		return err
	}
	record, err := l.addon(name)
	if errors.Is(err, ErrNoAddon) {
		return nil
	} else if err != nil {
		return err
	}
	if err := process.Stop(ctx, kind.Grace, record); err != nil {
		return err
	}
	if err := os.Remove(l.recordFile(name)); err != nil {
		return fmt.Errorf("forget addon %s: %w", name, err)
	}
	return nil
}

// FreezeAddon stops an addon's server with SIGSTOP: it takes connections, and says nothing. HealAddon undoes it.
func (l *Lab) FreezeAddon(_ context.Context, name string) error {
	record, err := l.addon(name)
	if err != nil {
		return err
	}
	return record.Signal(syscall.SIGSTOP)
}

// CutAddon lets so many bytes more through to an addon, counted over all connections and with all headers, at least 0.
// Then it resets connections to it, and refuses new ones. What the addon had of an upload stays there. HealAddon
// undoes it.
func (l *Lab) CutAddon(ctx context.Context, name string, after int64) error {
	if after < 0 {
		return fmt.Errorf("a connection is cut after 0 bytes or more, not %d", after)
	}
	if _, err := l.addon(name); err != nil {
		return err
	}
	kind, err := objectstore.Find(name)
	if err != nil {
		return err
	}
	return network.Cut(ctx, name, kind.Port, after)
}

// FillAddon takes all room on an addon's disk, down to the last byte. HealAddon gives it back.
func (l *Lab) FillAddon(_ context.Context, name string) error {
	record, err := l.addon(name)
	if err != nil {
		return err
	}
	return disk.Fill(filepath.Join(disk.Root(record.PID), objectstore.Disk(l.state.Addon(name))))
}

// SealAddon lets clients read an addon's bucket, but refuses them to write or delete anything in it, as it does to
// users without the permission. Only MinIO can. HealAddon undoes it.
func (l *Lab) SealAddon(ctx context.Context, name string) error {
	if _, err := l.addon(name); err != nil {
		return err
	}
	kind, err := objectstore.Find(name)
	if err != nil {
		return err
	}
	store, err := l.openAddon(ctx, kind, nil)
	if err != nil {
		return err
	}
	return store.Seal(ctx)
}

// ErrNoAddon is returned where an addon must run and does not.
var ErrNoAddon = errors.New("the lab does not run this addon")

// addon returns the process of an addon that was started.
func (l *Lab) addon(name string) (process.Record, error) {
	if _, err := objectstore.Find(name); err != nil {
		return process.Record{}, err
	}
	record, err := process.Read(l.recordFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return process.Record{}, fmt.Errorf("%w: %s", ErrNoAddon, name)
	}
	return record, err
}
