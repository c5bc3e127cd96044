// Package archive writes archives that are the same wherever and whenever they are made from the same files.
package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	// Executable has everyone permitted to run it.
	Executable bool
}

func (e Entry) mode() fs.FileMode {
	const readable, executable = 0o644, 0o755
	if e.Executable {
		return executable
	}
	return readable
}

// Read reads a file of this machine as an entry. It is executable if its owner may run it here.
func Read(source, name string) (Entry, error) {
	const owner = 0o100
	info, err := os.Stat(source)
	if err != nil {
		return Entry{}, err
	}
	content, err := os.ReadFile(source)
	return Entry{Name: name, Content: content, Executable: info.Mode().Perm()&owner != 0}, err
}

// Folder reads all files below a folder of this machine as entries below a folder of the archive. Empty folders are left out.
func Folder(source, name string) ([]Entry, error) {
	var entries []Entry
	err := filepath.WalkDir(source, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inside, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		read, err := Read(file, path.Join(name, filepath.ToSlash(inside)))
		entries = append(entries, read)
		return err
	})
	return entries, err
}

// Write writes the entries, by name, to a file. Its name says how: .tar, .tar.gz, .tgz or .zip. All of them are as old as the time says.
func Write(file string, entries []Entry, made time.Time) error {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	write := writeTar
	switch name := filepath.Base(file); {
	case strings.HasSuffix(name, ".zip"):
		write = writeZip
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		write = writeZipped
	case !strings.HasSuffix(name, ".tar"):
		return fmt.Errorf("write archive %s: want a name that ends in .tar, .tar.gz, .tgz or .zip", file)
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	err = write(out, entries, made.UTC())
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write archive %s: %w", file, err)
	}
	return nil
}

func writeZipped(out io.Writer, entries []Entry, made time.Time) error {
	zipped := gzip.NewWriter(out)
	if err := writeTar(zipped, entries, made); err != nil {
		return err
	}
	return zipped.Close()
}

func writeTar(out io.Writer, entries []Entry, made time.Time) error {
	writer := tar.NewWriter(out)
	for _, entry := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: entry.Name, Mode: int64(entry.mode()), Size: int64(len(entry.Content)), ModTime: made,
		}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		if _, err := writer.Write(entry.Content); err != nil {
			return err
		}
	}
	return writer.Close()
}

func writeZip(out io.Writer, entries []Entry, made time.Time) error {
	writer := zip.NewWriter(out)
	for _, entry := range entries {
		header := &zip.FileHeader{Name: entry.Name, Method: zip.Deflate, Modified: made}
		header.SetMode(entry.mode())
		file, err := writer.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(entry.Content); err != nil {
			return err
		}
	}
	return writer.Close()
}
