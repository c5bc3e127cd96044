package damage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// member is where a member keeps its files, below the folder that the operator mounts its volume at.
var member = filepath.Join("data", "member")

// WAL flips bytes in the middle of what is written of the newest segment of the write-ahead log.
func WAL(volume string) error {
	// The names are numbers of fixed length, so the last in order is the newest.
	// Source: server/storage/wal/util.go of etcd.
	segments, err := filepath.Glob(filepath.Join(volume, member, "wal", "*.wal"))
	if err != nil {
		return fmt.Errorf("list the segments of the log: %w", err)
	}
	if len(segments) == 0 {
		return fmt.Errorf("the volume has no %s", filepath.Join(member, "wal", "*.wal"))
	}
	return flip(segments[len(segments)-1], func(content []byte) ([]span, error) {
		// A segment has its full size from the start; what is not written yet is zero, and never read.
		written := len(bytes.TrimRight(content, "\x00"))
		const length = 16
		if written < 2*length {
			return nil, errors.New("nothing is written in it")
		}
		return []span{{written / 2, length}}, nil
	})
}

// DB flips bytes of the headers of all pages in the middle half of the database file.
func DB(volume string) error {
	return flip(filepath.Join(volume, member, "snap", "db"), func(content []byte) ([]span, error) {
		size, err := pageSize(content)
		if err != nil {
			return nil, err
		}
		// The first two pages say where all is: without them this would be no database, which is another fault.
		const metas, header = 2, 16
		var pages []span
		for at := metas * size; at+size <= len(content); at += size {
			if page := content[at : at+size]; len(bytes.TrimRight(page, "\x00")) > 0 {
				pages = append(pages, span{at, header})
			}
		}
		if len(pages) == 0 {
			return nil, errors.New("it has no page")
		}
		const quarter = 4
		return pages[len(pages)/quarter : len(pages)-len(pages)/quarter], nil
	})
}

// Value flips the last byte of a text wherever the database file has it: a value that contains the text is another one from then on, and
// nothing else is wrong with the file, whose pages of data have no checksums.
func Value(volume, text string) error {
	return flip(filepath.Join(volume, member, "snap", "db"), func(content []byte) ([]span, error) {
		if _, err := pageSize(content); err != nil {
			return nil, err
		}
		var all []span
		for from := 0; text != ""; {
			at := bytes.Index(content[from:], []byte(text))
			if at < 0 {
				break
			}
			from += at + len(text)
			all = append(all, span{from - 1, 1})
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("it does not have the text %q", text)
		}
		return all, nil
	})
}

// pageSize reads the size of the pages from the first of them.
// Source: struct meta in internal/common/meta.go of bbolt, which follows the header of 16 bytes.
func pageSize(content []byte) (int, error) {
	const magic, magicAt, sizeAt, end = 0xED0CDAED, 16, 24, 28
	if len(content) < end || binary.LittleEndian.Uint32(content[magicAt:]) != magic {
		return 0, errors.New("it is no bbolt database")
	}
	size := int(binary.LittleEndian.Uint32(content[sizeAt:]))
	if size == 0 || size > len(content) {
		return 0, fmt.Errorf("its pages have an impossible size, %d bytes", size)
	}
	return size, nil
}

// span is a part of a file.
type span struct{ at, length int }

// flip inverts all bits of some parts of a file, in place, so that a process that has it open sees it too.
func flip(path string, choose func(content []byte) ([]span, error)) error {
	content, err := os.ReadFile(path) // #nosec G304 -- a file of the lab
	if err != nil {
		return fmt.Errorf("read what is to be damaged: %w", err)
	}
	spans, err := choose(content)
	if err != nil {
		return fmt.Errorf("damage %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0) // #nosec G304 -- a file of the lab
	if err != nil {
		return fmt.Errorf("open what is to be damaged: %w", err)
	}
	for _, span := range spans {
		part := content[span.at : span.at+span.length]
		for i := range part {
			part[i] = ^part[i]
		}
		if _, err := file.WriteAt(part, int64(span.at)); err != nil {
			return errors.Join(fmt.Errorf("damage %s: %w", path, err), file.Close())
		}
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("damage %s: %w", path, err)
	}
	return nil
}
