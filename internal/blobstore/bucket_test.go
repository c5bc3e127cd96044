package blobstore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

func folder(t *testing.T) (*Bucket, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backups")
	b, err := Open(t.Context(), Target{URL: "file://" + path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b, path
}

func put(t *testing.T, b *Bucket, name, text string) {
	t.Helper()
	w, err := b.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, b *Bucket, prefix string) []string {
	t.Helper()
	var all []string
	for o, err := range b.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Name)
	}
	return all
}

func files(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func reason(t *testing.T, err error) string {
	t.Helper()
	var e *failure.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a storage error: %v", err)
	}
	if len(e.Message) < 20 || e.Message != err.Error() {
		t.Errorf("it does not say what to do: %q", e.Message)
	}
	return e.Reason
}

func TestFolder(t *testing.T) {
	b, path := folder(t)
	put(t, b, "a_1", "one")
	put(t, b, "a_2", "two")
	put(t, b, "b", "three")
	if err := os.MkdirAll(filepath.Join(path, "a_folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := names(t, b, "a_"); !slices.Equal(got, []string{"a_1", "a_2"}) {
		t.Errorf("listed %v", got)
	}
	if got, err := b.Read(t.Context(), "a_2", 3); err != nil || string(got) != "two" {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := b.Read(t.Context(), "b", 4); err == nil {
		t.Error("read more than allowed")
	}
	for range 2 { // the second time there is nothing left to delete
		if err := b.Delete(t.Context(), "a_1"); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Open(t.Context(), "a_1"); reason(t, err) != v1beta2.ReasonNoSuchObject {
		t.Errorf("got %v", err)
	}
	info, err := os.Stat(filepath.Join(path, "b"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}

// TestNothingHalfWritten ends a write in every way but Commit.
func TestNothingHalfWritten(t *testing.T) {
	for title, end := range map[string]func(*Writer, context.CancelFunc){
		"aborted":   func(w *Writer, _ context.CancelFunc) { w.Abort() },
		"cancelled": func(w *Writer, cancel context.CancelFunc) { cancel(); w.Abort() },
		"committed after it was cancelled": func(w *Writer, cancel context.CancelFunc) {
			cancel()
			if w.Commit() == nil {
				panic("the commit succeeded")
			}
		},
	} {
		t.Run(title, func(t *testing.T) {
			b, path := folder(t)
			put(t, b, "name", "before")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w, err := b.Create(ctx, "name")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			end(w, cancel)
			if got, err := b.Read(t.Context(), "name", 10); err != nil || string(got) != "before" {
				t.Errorf("read %q, %v", got, err)
			}
			if got := files(t, path); !slices.Equal(got, []string{"name"}) {
				t.Errorf("left %v", got)
			}
		})
	}
}

// TestFolderVanishes takes the folder away while an object is written to it, as a volume that is torn off.
func TestFolderVanishes(t *testing.T) {
	b, path := folder(t)
	w, err := b.Create(t.Context(), "name")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); reason(t, err) != v1beta2.ReasonNoSuchBucket || lasting(err) {
		t.Errorf("an object was committed to nowhere, which the next try makes again: %v", err)
	}
	again, err := Open(t.Context(), Target{URL: "file://" + path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, again, "name", "text")
}

// lasting reports whether another attempt cannot go better.
func lasting(err error) bool {
	var e *failure.Error
	return errors.As(err, &e) && e.Terminal
}

// flushed counts how often a file is flushed, and with how many bytes that were not.
type flushed struct {
	file
	w    *Writer
	most int64
	n    int
}

func (f *flushed) Sync() error {
	f.n++
	f.most = max(f.most, f.w.unflushed)
	return f.file.Sync()
}

// TestFlushes has a large file reach the disk while it is written, and not all at the end: a disk takes its time for that.
func TestFlushes(t *testing.T) {
	b, _ := folder(t)
	w, err := b.Create(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	f := &flushed{file: w.file, w: w}
	w.file = f
	const part, parts = 5 << 20, 3*flushEvery/(5<<20) + 1
	for range parts {
		if _, err := w.Write(make([]byte, part)); err != nil {
			t.Fatal(err)
		}
	}
	if f.n < 2 {
		t.Errorf("it was flushed %d times before the end", f.n)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if f.most > flushEvery+part {
		t.Errorf("%d bytes were flushed at once", f.most)
	}
	w, err = b.Create(t.Context(), "failing")
	if err != nil {
		t.Fatal(err)
	}
	w.file = &broken{w.file}
	for range parts {
		if _, err = w.Write(make([]byte, part)); err != nil {
			break
		}
	}
	if w.Abort(); reason(t, err) != v1beta2.ReasonStorageFull {
		t.Errorf("a disk that fails: got %v", err)
	}
	if got := names(t, b, ""); !slices.Equal(got, []string{"large"}) {
		t.Errorf("there is %v", got)
	}
}

// broken cannot be flushed.
type broken struct{ file }

func (broken) Sync() error { return &os.PathError{Op: "sync", Err: syscall.ENOSPC} }
