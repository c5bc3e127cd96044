package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/cgroup"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/clock"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// Down ends the lab on this machine, however far it came: exactly the processes that it started, whose mounts go with
// them, then its cgroups, namespaces, bridge, routes and state. Its logs stay. Without a lab it does nothing.
func Down(ctx context.Context, out io.Writer) error {
	if out == nil {
		out = io.Discard
	}
	dir, err := state.Default()
	if err != nil {
		return err
	}
	if _, err := os.Stat(string(dir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	const timeout = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := down(ctx, dir); err != nil {
		return fmt.Errorf("take the lab down: %w", err)
	}
	_, _ = fmt.Fprintf(out, "the lab is down; its logs are in %s\n", dir.Logs())
	return nil
}

func down(ctx context.Context, dir state.Dir) error {
	// What is removed below has the same name in every lab.
	if err := dir.Claim(); err != nil {
		return err
	}
	if err := clock.Restore(dir.Clock()); err != nil {
		return err
	}
	if err := endProcesses(ctx, dir); err != nil {
		return err
	}
	if err := detachAddons(ctx, dir); err != nil {
		return err
	}
	config, err := readConfig(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := network.Remove(ctx, nodeNames(max(config.Nodes, DefaultNodes))); err != nil {
		return err
	}
	if err := removeEmpty(config.Made); err != nil {
		return err
	}
	if err := clearState(dir); err != nil {
		return err
	}
	// Last, so that a down that failed halfway knows what is left to do.
	if err := os.RemoveAll(dir.Config()); err != nil {
		return fmt.Errorf("clear the state folder: %w", err)
	}
	return dir.Release()
}

// endProcesses ends the recorded processes and all others in the lab's own cgroups, and removes these.
func endProcesses(ctx context.Context, dir state.Dir) error {
	cgroups, err := cgroup.Detect()
	if err != nil {
		return err
	}
	records, err := process.ReadAll(dir.Run())
	if err != nil {
		return err
	}
	// At once: what a lab holds ends with it, so there is nothing to put in order.
	if err := process.Kill(ctx, records...); err != nil {
		return err
	}
	if err := cgroups.Kill(ctx, cgroup.Root); err != nil {
		return err
	}
	// The kernel lets go of a dead process's cgroup a moment after the process is gone from its list.
	return process.Poll(ctx, func(context.Context) error { return cgroups.Remove(cgroup.Root) })
}

// removeEmpty removes folders of the host that are empty: someone else may have put something there since.
func removeEmpty(folders []string) error {
	for _, folder := range folders {
		if err := unmountNamespaces(folder); err != nil {
			return err
		}
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("remove %s: %w", folder, err)
		}
	}
	return nil
}

// unmountNamespaces undoes the mount of the folder of network namespaces, once it is empty.
func unmountNamespaces(folder string) error {
	if folder != network.NamespaceDir {
		return nil
	}
	left, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || len(left) > 0 {
		return nil
	} else if err != nil {
		return fmt.Errorf("look for network namespaces: %w", err)
	}
	if err := syscall.Unmount(folder, 0); err != nil && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("unmount %s: %w", folder, err)
	}
	return nil
}

// clearState removes what is in the state folder but the logs and what down itself needs until its end.
func clearState(dir state.Dir) error {
	entries, err := os.ReadDir(string(dir))
	if err != nil {
		return fmt.Errorf("read the state folder: %w", err)
	}
	for _, entry := range entries {
		file := dir.Join(entry.Name())
		if file == dir.Logs() || file == dir.Lock() || file == dir.Config() {
			continue
		}
		if err := os.RemoveAll(file); err != nil {
			return fmt.Errorf("clear the state folder: %w", err)
		}
	}
	return nil
}
