// Package sums writes and verifies the checksums of a release, in the format of sha256sum.
package sums

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is the name of the file that has the checksums of those beside it.
const File = "SHA256SUMS"

// Write writes the file into a folder, with one line for each other file there, by name. Signatures, which follow later, have none.
func Write(dir string) error {
	names, err := files(dir)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, name := range names {
		sum, err := of(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(&lines, "%s  %s\n", sum, name)
	}
	const readable = 0o644
	if err := os.WriteFile(filepath.Join(dir, File), []byte(lines.String()), readable); err != nil { // #nosec G306 -- it is published
		return fmt.Errorf("write the checksums: %w", err)
	}
	return nil
}

// Verify compares the files of a folder with their checksums. It names each file that differs, is missing, or has no checksum.
func Verify(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return fmt.Errorf("read the checksums: %w", err)
	}
	left, err := files(dir)
	if err != nil {
		return err
	}
	var wrong []error
	for line := range strings.Lines(string(text)) {
		want, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		got, err := of(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			wrong = append(wrong, err)
		} else if got != want {
			wrong = append(wrong, fmt.Errorf("%s has changed since its checksum was written", name))
		}
		left = slices.DeleteFunc(left, func(file string) bool { return file == name })
	}
	for _, name := range left {
		wrong = append(wrong, fmt.Errorf("%s has no checksum", name))
	}
	return errors.Join(wrong...)
}

// files lists what has a checksum.
func files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the release's files: %w", err)
	}
	var names []string
	for _, entry := range entries {
		switch name := entry.Name(); {
		case strings.HasPrefix(name, File):
		case !entry.Type().IsRegular():
			return nil, fmt.Errorf("%s is not a file, and a release consists of files", name)
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

func of(file string) (string, error) {
	in, err := os.Open(filepath.Clean(file))
	if err != nil {
		return "", fmt.Errorf("make a checksum: %w", err)
	}
	defer func() { _ = in.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return "", fmt.Errorf("make a checksum of %s: %w", file, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
