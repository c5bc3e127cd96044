package node

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// MountsBelow lists what is mounted below a folder, the deepest first.
func MountsBelow(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	return mountsBelow(string(data), dir), nil
}

// mountsBelow reads proc_pid_mountinfo(5). Later mounts hide earlier ones, so they come off in reverse.
func mountsBelow(mountinfo, dir string) []string {
	const mountPoint = 4
	var found []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) <= mountPoint {
			continue
		}
		if point := unescape.Replace(fields[mountPoint]); strings.HasPrefix(point, dir+"/") {
			found = append(found, point)
		}
	}
	slices.Reverse(found)
	return found
}

// unescape undoes the kernel's escaping of a path.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// UnmountBelow unmounts all that is mounted below a folder.
func UnmountBelow(dir string) error {
	mounts, err := MountsBelow(dir)
	if err != nil {
		return err
	}
	for _, mount := range mounts {
		// A mount may have gone together with another one that it was a copy of.
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			return fmt.Errorf("unmount %s: %w", mount, err)
		}
	}
	return nil
}
