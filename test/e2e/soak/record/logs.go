package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Logs are copies of the write-ahead logs of all members that ever were, each as late as it could be had: the log of a member
// that was replaced holds what its followers begin after.
type Logs struct {
	// Folder gets a folder for each member.
	Folder string
}

// walFolder is where a member's data folder has its log.
var walFolder = filepath.Join("member", "wal")

// Take copies the log in a member's data folder, in place of an earlier copy, under the member's ID. The member may be writing: what
// it has not finished is left out by those who read the copy.
func (l Logs) Take(member, data string) error {
	source, target := filepath.Join(data, walFolder), filepath.Join(l.Folder, member, walFolder)
	segments, err := os.ReadDir(source)
	if err != nil {
		return fmt.Errorf("read the log of member %s: %w", member, err)
	}
	next := target + ".next"
	if err := errors.Join(os.RemoveAll(next), os.MkdirAll(next, 0o700)); err != nil {
		return fmt.Errorf("copy the log of member %s: %w", member, err)
	}
	for _, s := range segments {
		if !strings.HasSuffix(s.Name(), ".wal") {
			continue
		}
		if err := copySparse(filepath.Join(source, s.Name()), filepath.Join(next, s.Name())); err != nil {
			return fmt.Errorf("copy the log of member %s: %w", member, err)
		}
	}
	if err := errors.Join(os.RemoveAll(target), os.Rename(next, target)); err != nil {
		return fmt.Errorf("copy the log of member %s: %w", member, err)
	}
	return nil
}

// Folders are those of all members, by member.
func (l Logs) Folders() (map[string]string, error) {
	entries, err := os.ReadDir(l.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list the members' logs: %w", err)
	}
	folders := map[string]string{}
	for _, e := range entries {
		folders[e.Name()] = filepath.Join(l.Folder, e.Name())
	}
	return folders, nil
}

// copySparse copies a file and leaves holes where there are zeros: etcd makes each segment of its log 64 MB at once, and most of
// that is never written.
func copySparse(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	const block = 1 << 20
	buffer, zeros := make([]byte, block), make([]byte, block)
	for size := int64(0); ; {
		n, err := io.ReadFull(source, buffer)
		if !bytes.Equal(buffer[:n], zeros[:n]) {
			if _, err := target.WriteAt(buffer[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return target.Truncate(size)
		} else if err != nil {
			return err
		}
	}
}
