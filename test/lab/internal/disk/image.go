package disk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Format makes a file of so many bytes that holds an empty file system. The file must not be there yet.
func Format(ctx context.Context, path string, bytes int64) error {
	image, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // #nosec G304 -- a folder of the lab
	if err != nil {
		return fmt.Errorf("make the image: %w", err)
	}
	defer func() { _ = image.Close() }()
	if err := image.Truncate(bytes); err != nil {
		return fmt.Errorf("size the image: %w", err)
	}
	// No blocks are kept back for root: a full disk is full for everyone.
	cmd := exec.CommandContext(ctx, "mkfs.ext4", "-q", "-m", "0", path) // #nosec G204
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make the file system: %w: %s", err, out)
	}
	return nil
}

// Mounted is the start of a command that runs in a mount namespace of its own, in which an image is mounted at a
// folder. The words that follow it are the rest of the command. Device and mount end with the last process in there.
func Mounted(image, folder string) []string {
	const script = `mount -t ext4 -o loop,errors=remount-ro "$1" "$2" && shift 2 && exec "$@"`
	return []string{"unshare", "--mount", "--propagation=private", "/bin/sh", "-c", script, "mount", image, folder}
}

// Detached returns nil if no device has an image. The kernel writes out what is left, and lets go of the device, a
// moment after the last process that had it mounted is gone.
func Detached(image string) error {
	// One file for each attached loop device: Documentation/ABI/testing/sysfs-block-loop of Linux.
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return fmt.Errorf("list loop devices: %w", err)
	}
	for _, file := range files {
		// It may be gone since it was listed.
		data, err := os.ReadFile(file) // #nosec G304 -- below /sys
		if err == nil && strings.TrimSpace(string(data)) == image {
			return fmt.Errorf("%s is attached as %s", image, filepath.Base(filepath.Dir(filepath.Dir(file))))
		}
	}
	return nil
}
