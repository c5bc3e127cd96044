package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Root is the group that holds all of the lab's; nothing outside it is ever touched.
const Root = "/etcd-operator-lab"

// Host is the set of cgroup hierarchies mounted on this machine. Every group of the lab exists in all of them under
// the same path.
type Host struct {
	hierarchies []hierarchy
}

// hierarchy is one mounted cgroup file system.
type hierarchy struct {
	root string
	v2   bool
}

// Detect finds the hierarchies of this machine.
func Detect() (Host, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Host{}, fmt.Errorf("read mounts: %w", err)
	}
	host := Host{hierarchies: parseMounts(string(data))}
	if len(host.hierarchies) == 0 {
		return Host{}, errors.New("no cgroup file system is mounted (expected below /sys/fs/cgroup)")
	}
	return host, nil
}

// parseMounts reads proc_pid_mountinfo(5), in which the file system type follows a lone hyphen.
func parseMounts(mountinfo string) []hierarchy {
	var found []hierarchy
	for line := range strings.Lines(mountinfo) {
		mount, source, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(mount), strings.Fields(source)
		const mountPoint = 4
		if !ok || len(fields) <= mountPoint || len(kind) == 0 {
			continue
		}
		root := fields[mountPoint]
		known := slices.ContainsFunc(found, func(h hierarchy) bool { return h.root == root })
		if isCgroup := kind[0] == "cgroup" || kind[0] == "cgroup2"; isCgroup && !known {
			found = append(found, hierarchy{root: root, v2: kind[0] == "cgroup2"})
		}
	}
	return found
}

// Create makes a group and its parents, with every controller of the machine available in it.
func (h Host) Create(path string) error {
	for _, hierarchy := range h.hierarchies {
		if err := hierarchy.create(path); err != nil {
			return fmt.Errorf("create cgroup %s: %w", path, err)
		}
	}
	return nil
}

func (h hierarchy) create(path string) error {
	group := h.root
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if h.v2 {
			if err := delegate(group); err != nil {
				return err
			}
		}
		parent := group
		group = filepath.Join(group, part)
		// #nosec G301 -- the mode that the kernel itself gives
		if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make group: %w", err)
		}
		if err := inheritCPUSet(parent, group); err != nil {
			return err
		}
	}
	return nil
}

// delegate makes a v2 group's controllers available to its children.
func delegate(group string) error {
	data, err := os.ReadFile(filepath.Join(group, "cgroup.controllers")) // #nosec G304 -- a cgroup file
	if err != nil {
		return fmt.Errorf("read controllers: %w", err)
	}
	for controller := range strings.FieldsSeq(string(data)) {
		file := filepath.Join(group, "cgroup.subtree_control")
		if err := os.WriteFile(file, []byte("+"+controller), 0); err != nil {
			return fmt.Errorf("enable controller %s below %s: %w", controller, group, err)
		}
	}
	return nil
}

// inheritCPUSet fills a v1 cpuset, which starts empty: no process can enter it before it names processors and
// memory nodes.
func inheritCPUSet(parent, group string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		file := filepath.Join(group, name)
		own, err := os.ReadFile(file) // #nosec G304 -- a cgroup file
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read cpuset: %w", err)
		}
		if strings.TrimSpace(string(own)) != "" {
			continue
		}
		inherited, err := os.ReadFile(filepath.Join(parent, name)) // #nosec G304 -- a cgroup file
		if errors.Is(err, fs.ErrNotExist) || (err == nil && strings.TrimSpace(string(inherited)) == "") {
			continue // A v2 group: empty means "as the parent".
		} else if err != nil {
			return fmt.Errorf("read the parent's cpuset: %w", err)
		}
		if err := os.WriteFile(file, inherited, 0); err != nil { // #nosec G703 -- a cgroup file
			return fmt.Errorf("fill cpuset: %w", err)
		}
	}
	return nil
}

// ProcsFiles lists the files through which a process enters the group in all hierarchies.
func (h Host) ProcsFiles(path string) []string {
	files := make([]string, 0, len(h.hierarchies))
	for _, hierarchy := range h.hierarchies {
		files = append(files, filepath.Join(hierarchy.root, path, "cgroup.procs"))
	}
	return files
}

// PIDs lists the processes in the group and below, in any hierarchy. A missing group has none.
func (h Host) PIDs(path string) ([]int, error) {
	var pids []int
	for _, hierarchy := range h.hierarchies {
		groups, err := hierarchy.groups(path)
		if err != nil {
			return nil, err
		}
		for _, group := range groups {
			data, err := os.ReadFile(filepath.Join(group, "cgroup.procs")) // #nosec G304 -- a cgroup file
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
				continue // Removed since it was listed.
			} else if err != nil {
				return nil, fmt.Errorf("list processes: %w", err)
			}
			for field := range strings.FieldsSeq(string(data)) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					return nil, fmt.Errorf("list processes of %s: %w", group, err)
				}
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil
}

// groups lists the group and all below it, children before parents.
func (h hierarchy) groups(path string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(filepath.Join(h.root, path), func(file string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV):
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			found = append(found, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walk cgroup %s: %w", path, err)
	}
	slices.Reverse(found)
	return found, nil
}

// Kill ends all processes in the group and below, and returns when there are none left.
func (h Host) Kill(ctx context.Context, path string) error {
	if path != Root && !strings.HasPrefix(path, Root+"/") {
		return fmt.Errorf("refusing to kill cgroup %q, which is not the lab's", path)
	}
	const interval = 20 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		pids, err := h.PIDs(path)
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		// Again and again until it is empty: a process may have forked while the list was read.
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d of cgroup %s: %w", pid, path, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("processes %v of cgroup %s outlive SIGKILL: %w", pids, path, ctx.Err())
		case <-ticker.C:
		}
	}
}

// Remove deletes the group and all below it. It must hold no process.
func (h Host) Remove(path string) error {
	for _, hierarchy := range h.hierarchies {
		groups, err := hierarchy.groups(path)
		if err != nil {
			return err
		}
		for _, group := range groups {
			if err := os.Remove(group); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove cgroup: %w", err)
			}
		}
	}
	return nil
}

// Exists says whether the group is there in any hierarchy.
func (h Host) Exists(path string) bool {
	return slices.ContainsFunc(h.hierarchies, func(hierarchy hierarchy) bool {
		_, err := os.Stat(filepath.Join(hierarchy.root, path))
		return err == nil
	})
}
