// Package archive writes archives that are the same wherever and whenever they are made from the same files.
package archive

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Entry is one file of an archive. All may read it.
type Entry struct {
	// Name in the archive, with slashes.
	Name string
	// Content of the file.
	Content []byte
}

// Folder reads all files below a folder of this machine as entries below a folder of the archive. Empty folders are left out.
func Folder(source, name string) ([]Entry, error) {
	var entries []Entry
	folder := os.DirFS(source)
	err := fs.WalkDir(folder, ".", func(inside string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, inside)
		entries = append(entries, Entry{path.Join(name, inside), content})
		return err
	})
	return entries, err
}

// Write writes the entries, by name, to a file, as tar and gzip do. All of them are as old as the time says.
func Write(file string, entries []Entry, made time.Time) error {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	err = writeTar(out, entries, made.UTC())
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write archive %s: %w", file, err)
	}
	return nil
}

func writeTar(out io.Writer, entries []Entry, made time.Time) error {
	zipped := gzip.NewWriter(out)
	writer := tar.NewWriter(zipped)
	for _, entry := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: entry.Name, Mode: 0o644, Size: int64(len(entry.Content)), ModTime: made,
		}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		if _, err := writer.Write(entry.Content); err != nil {
			return err
		}
	}
	if err := writer.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
