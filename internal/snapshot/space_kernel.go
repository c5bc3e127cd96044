//go:build linux || darwin

package snapshot

import (
	"math"
	"syscall"
)

// spaceOf asks the kernel about the disk that a folder is on.
func spaceOf(folder string) (space, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return space{}, err
	}
	block := int64(fs.Bsize) //nolint:unconvert // of another type on some architectures
	bytes := func(blocks uint64) int64 {
		return int64(min(blocks, math.MaxInt64/uint64(block))) * block //nolint:gosec // bounded
	}
	return space{total: bytes(fs.Blocks), free: bytes(fs.Bavail)}, nil
}
