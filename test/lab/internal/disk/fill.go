package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// filler is the file that takes all room.
const filler = ".lab-filler"

// Fill takes all room on the file system of a folder, down to the last byte.
func Fill(folder string) error {
	// #nosec G304 -- a folder of the lab
	file, err := os.OpenFile(filepath.Join(folder, filler), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	// Smaller and smaller pieces, because a file system has room that it does not count.
	const largest, smallest = int64(1) << 30, int64(1) << 10
	end := info.Size()
	for piece := largest; piece >= smallest; {
		err := syscall.Fallocate(int(file.Fd()), 0, end, piece)
		switch {
		case errors.Is(err, syscall.ENOSPC):
			piece /= 2
		case err == nil:
			end += piece
		case !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("fill the disk: %w", err)
		}
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	return nil
}

// Free gives back the room that Fill took.
func Free(folder string) error {
	if err := os.Remove(filepath.Join(folder, filler)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("free the disk: %w", err)
	}
	return nil
}

// Open makes a new file system empty and writable for everyone, as a provisioner of volumes leaves its folders.
func Open(folder string) error {
	// It holds what a repair would find, and is no business of a user of the volume.
	if err := os.Remove(filepath.Join(folder, "lost+found")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("empty the new disk: %w", err)
	}
	if err := os.Chmod(folder, 0o777); err != nil { // #nosec G302 -- for containers of any user
		return fmt.Errorf("open the new disk to everybody: %w", err)
	}
	return nil
}
