package memberrun

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
)

// attemptFile is where a pod keeps the highest attempt that it has used up.
const attemptFile = "attempt"

func readAttempt(stateDir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(stateDir, attemptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the attempt: %w", err)
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0, fmt.Errorf("read the attempt: %w", err)
	}
	return n, nil
}

// writeAttempt syncs the file to disk before it returns: a permit that is used twice is worse than one never used.
func writeAttempt(stateDir string, attempt int) error {
	path := filepath.Join(stateDir, attemptFile)
	err := writeFile(path, []byte(strconv.Itoa(attempt)), 0o600, (*os.File).Sync)
	if err == nil {
		err = syncDir(stateDir)
	}
	if err != nil {
		return fmt.Errorf("write the attempt: %w", err)
	}
	return nil
}

// writeFile writes a file atomically; each finish is called with the complete file before that.
func writeFile(path string, content []byte, mode fs.FileMode, finish ...func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(mode))
	for _, f := range finish {
		err = errors.Join(err, f(file))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// empty removes the leftovers of a failed start from a directory without a log.
func empty(dataDir string) error {
	entries, err := os.ReadDir(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("clear the data directory: %w", err)
	}
	for _, entry := range entries {
		slog.Info("removing what a failed start left", "name", entry.Name())
		path := filepath.Join(dataDir, entry.Name())
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("clear the data directory: %w", err)
		}
	}
	return nil
}

// own creates the data directory, private to this user. etcd only warns of another mode, so a failure does not prevent the start: a
// volume with an fsGroup may belong to another user.
func own(dataDir string) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if err := os.Chmod(dataDir, 0o700); err != nil { //nolint:gosec // a directory needs its x
		slog.Warn("cannot make the data directory private", "error", err)
	}
	return nil
}

// tryWrite reports a data directory that cannot be written to: etcd would end before it has a log, with the permit used up.
func tryWrite(dataDir string) error {
	file, err := os.CreateTemp(dataDir, "*.tmp")
	if err != nil {
		return fmt.Errorf("write to the data directory: %w", err)
	}
	if err := errors.Join(file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("write to the data directory: %w", err)
	}
	return nil
}

// Install copies this program into dir as member-run, so that containers of other images can run it.
func Install(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		return fmt.Errorf("read this program: %w", err)
	}
	if err := writeFile(filepath.Join(dir, "member-run"), content, 0o755); err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	return nil
}
