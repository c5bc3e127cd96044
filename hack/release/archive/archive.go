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

// Entry is one file of an archive.
type Entry struct {
	// Name in the archive, with slashes.
	Name string
	// Content of the file.
	Content []byte
	// Executable has everyone permitted to run it; all may read it.
	Executable bool
}

func (e Entry) mode() fs.FileMode {
	if e.Executable {
		return 0o755
	}
	return 0o644
}

// File reads a file of this machine as an entry.
func File(source, name string) (Entry, error) {
	info, err := os.Stat(source)
	if err != nil {
		return Entry{}, fmt.Errorf("archive: %w", err)
	}
	content, err := os.ReadFile(source)
	if err != nil {
		return Entry{}, fmt.Errorf("archive: %w", err)
	}
	const owner = 0o100
	return Entry{Name: name, Content: content, Executable: info.Mode().Perm()&owner != 0}, nil
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
		read, err := File(file, path.Join(name, filepath.ToSlash(inside)))
		entries = append(entries, read)
		return err
	})
	return entries, err
}

// Write writes the entries, by name, to a file whose name says how: .tar.gz, .tgz or .zip. All of them are as old as the time says.
func Write(file string, entries []Entry, made time.Time) error {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	write := writeTar
	if strings.HasSuffix(file, ".zip") {
		write = writeZip
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

func writeTar(out io.Writer, entries []Entry, made time.Time) error {
	zipped := gzip.NewWriter(out)
	writer := tar.NewWriter(zipped)
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
	if err := writer.Close(); err != nil {
		return err
	}
	return zipped.Close()
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
