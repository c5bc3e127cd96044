package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/cgroup"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/node"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// Down ends the lab on this machine, however far it came: exactly the processes that it started, then its mounts,
// cgroups, namespaces, bridge, routes and state. The logs stay until the next lab. Without a lab it does nothing.
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
	if err := endProcesses(ctx, dir); err != nil {
		return err
	}
	config, err := readConfig(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := node.UnmountBelow(dir.Nodes()); err != nil {
		return err
	}
	if err := network.Remove(ctx, nodeNames(max(config.Nodes, DefaultNodes))); err != nil {
		return err
	}
	for _, folder := range config.Made {
		if err := removeMade(folder, dir); err != nil {
			return err
		}
	}
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
	// Last, so that a down that failed halfway knows what is left to do.
	if err := os.RemoveAll(dir.Config()); err != nil {
		return fmt.Errorf("clear the state folder: %w", err)
	}
	return nil
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

// removeMade removes a folder of the host that only the lab's processes used. Whatever somebody else has put there
// since keeps it in place.
func removeMade(folder string, dir state.Dir) error {
	left, err := os.ReadDir(folder)
	if err == nil && len(left) == 0 {
		// `ip netns add` has mounted the folder of network namespaces onto itself.
		if err := unix.Unmount(folder, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("unmount %s: %w", folder, err)
		}
	}
	return removeLinksInto(folder, string(dir))
}

// removeLinksInto removes links that point into the lab, and then the folder if nothing else is in it.
func removeLinksInto(folder, target string) error {
	links, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return fmt.Errorf("list %s: %w", folder, err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, target+"/") {
			if err := os.Remove(link); err != nil {
				return fmt.Errorf("remove the lab's links: %w", err)
			}
		}
	}
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("remove %s: %w", folder, err)
	}
	return nil
}
