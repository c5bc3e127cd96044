package disk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Ready returns nil once the server, whose process is given, shows the image of a disk.
func (s Store) Ready(server int, id ID) error {
	if _, err := os.Stat(filepath.Join(Root(server), s.served(), id.Volume())); err != nil {
		return fmt.Errorf("look for the image of disk %s: %w", id, err)
	}
	// Without a mount the folder is empty, so this is the server's.
	return nil
}

// Root is a process's view of all files.
func Root(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid), "root") }

// Mount attaches a disk and mounts it at a path that a process of its node sees, unless it is mounted there. Device
// and mount go with the last process in that mount namespace.
func (s Store) Mount(ctx context.Context, id ID, server, node int, path string) error {
	if mounted, err := IsMounted(node, path); err != nil || mounted {
		return err
	}
	if err := os.MkdirAll(path, 0o755); err != nil { // #nosec G301 -- containers enter it
		return fmt.Errorf("make the mount point of disk %s: %w", id, err)
	}
	device, err := inMounts(ctx, server, "losetup", "--find", "--show", filepath.Join(s.served(), id.Volume()))
	if err != nil {
		return err
	}
	_, mountErr := inMounts(ctx, node, "mount", "-t", "ext4", "-o", "errors=remount-ro", device, path)
	// From now on the device ends with its last user: at once if the mount failed.
	if _, err := inMounts(ctx, server, "losetup", "--detach", device); err != nil && mountErr == nil {
		return err
	}
	return mountErr
}

// Unmount unmounts a disk. Containers that use it keep it until they end.
func (s Store) Unmount(ctx context.Context, node int, path string) error {
	mounted, err := IsMounted(node, path)
	if err != nil || !mounted {
		return err
	}
	_, err = inMounts(ctx, node, "umount", "--lazy", path)
	return err
}

// IsMounted says whether a process sees a mount at a path.
func IsMounted(pid int, path string) (bool, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "mountinfo"))
	if err != nil {
		return false, fmt.Errorf("read mounts: %w", err)
	}
	return hasMount(string(data), path), nil
}

// hasMount looks for a mount point in the form of proc_pid_mountinfo(5).
func hasMount(mountinfo, path string) bool {
	for line := range strings.Lines(mountinfo) {
		const mountPoint = 4
		if fields := strings.Fields(line); len(fields) > mountPoint && fields[mountPoint] == path {
			return true
		}
	}
	return false
}

// inMounts runs a command in the mount namespace of a process, and returns the line that it prints.
func inMounts(ctx context.Context, pid int, args ...string) (string, error) {
	args = append([]string{"--mount=/proc/" + strconv.Itoa(pid) + "/ns/mnt"}, args...)
	out, err := exec.CommandContext(ctx, "nsenter", args...).CombinedOutput() // #nosec G204 -- own commands
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args[1:], " "), err, text)
	}
	return text, nil
}
