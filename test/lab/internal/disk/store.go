package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Store keeps the images of all disks.
type Store struct {
	// Dir is the store's own folder.
	Dir string
}

// MinBytes is the size of the smallest disk: below it the file system has no journal.
const MinBytes = 16 << 20

// namePattern is what the names of disks have in common with the names of Kubernetes' objects.
var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$`)

// ID is one disk.
type ID struct {
	// Node that has it.
	Node string
	// Name of the disk on its node.
	Name string
}

// ParseID reads NODE/NAME.
func ParseID(text string) (ID, error) {
	node, name, found := strings.Cut(text, "/")
	if !found || node == "" || !namePattern.MatchString(name) {
		return ID{}, fmt.Errorf("%q is not NODE/NAME of a disk, with a name of a-z, 0-9 and hyphens", text)
	}
	return ID{Node: node, Name: name}, nil
}

// String returns NODE/NAME.
func (id ID) String() string { return id.Node + "/" + id.Name }

// Volume is the name of the disk's image, and of its PersistentVolume. A node's name has no hyphen.
func (id ID) Volume() string { return id.Node + "-" + id.Name }

func (s Store) images() string { return filepath.Join(s.Dir, "images") }
func (s Store) served() string { return filepath.Join(s.Dir, "served") }

func (s Store) delayFile(volume string) string { return filepath.Join(s.Dir, "delays", volume) }

func (s Store) makeFolders() error {
	for _, folder := range []string{s.images(), s.served(), filepath.Dir(s.delayFile("any"))} {
		if err := os.MkdirAll(folder, 0o755); err != nil { // #nosec G301 -- holds no secret
			return fmt.Errorf("make the folders of disks: %w", err)
		}
	}
	return nil
}

// Create makes the image of a disk, with an empty file system on it.
func (s Store) Create(ctx context.Context, id ID, bytes int64) error {
	if bytes < MinBytes {
		return fmt.Errorf("a disk has at least %d bytes, not %d", MinBytes, bytes)
	}
	if err := s.makeFolders(); err != nil {
		return err
	}
	if err := Format(ctx, filepath.Join(s.images(), id.Volume()), bytes); err != nil {
		return fmt.Errorf("make disk %s: %w", id, err)
	}
	return nil
}

// List returns the disks of a node.
func (s Store) List(node string) ([]ID, error) {
	entries, err := os.ReadDir(s.images())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list disks: %w", err)
	}
	var disks []ID
	for _, entry := range entries {
		if name, found := strings.CutPrefix(entry.Name(), node+"-"); found {
			disks = append(disks, ID{Node: node, Name: name})
		}
	}
	return disks, nil
}

// Check returns an error if there is no such disk.
func (s Store) Check(id ID) error {
	if _, err := os.Stat(filepath.Join(s.images(), id.Volume())); err != nil {
		return fmt.Errorf("find disk %s: %w", id, err)
	}
	return nil
}

// SetDelay makes every flush of a disk take that long from now on, also those under way; 0 is as fast as it gets.
func (s Store) SetDelay(id ID, delay time.Duration) error {
	if err := s.Check(id); err != nil {
		return err
	}
	// Renamed into place, so that the server never reads half of it.
	file := s.delayFile(id.Volume())
	if err := os.WriteFile(file+".new", []byte(delay.String()), 0o600); err != nil {
		return fmt.Errorf("set the delay of disk %s: %w", id, err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("set the delay of disk %s: %w", id, err)
	}
	return nil
}

// Remove removes the image of a disk. A device that still has it keeps it to its end.
func (s Store) Remove(id ID) error {
	for _, file := range []string{s.delayFile(id.Volume()), filepath.Join(s.images(), id.Volume())} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove disk %s: %w", id, err)
		}
	}
	return nil
}

// readDelay returns how long a flush takes; without a file, no time at all.
func readDelay(file string) (time.Duration, error) {
	data, err := os.ReadFile(file) // #nosec G304 -- own folder
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("read a disk's delay: %w", err)
	}
	delay, err := time.ParseDuration(string(data))
	if err != nil {
		return 0, fmt.Errorf("read a disk's delay: %w", err)
	}
	return delay, nil
}
