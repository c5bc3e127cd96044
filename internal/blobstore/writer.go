package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"gocloud.dev/blob"
)

// An upload holds about partSize × (concurrency + 2) bytes in memory. S3 allows 10,000 parts: 80 GB, far more than etcd can hold.
const (
	partSize    = 8 << 20
	concurrency = 2
)

// fileMode of objects that are files: they hold all data of an etcd cluster.
const fileMode = 0o600

// Writer writes one object. No one sees the object before Commit has returned nil. It is not safe for concurrent use.
type Writer struct {
	blob   io.WriteCloser
	cancel context.CancelFunc
	bucket *Bucket
	name   string
	isNew  bool
	// file is what is written to, nil unless objects are files; unflushed is how many bytes may be in memory only.
	file      file
	unflushed int64
}

// file is an *os.File.
type file interface {
	Name() string
	Sync() error
}

// flushEvery is how many bytes are written to a file before they are flushed to its disk. If all were flushed at the end, a slow
// disk could not be distinguished from one that hangs.
const flushEvery = 64 << 20

// ErrNoCondition is a cause of an error of CreateNew if the storage does not support that.
var ErrNoCondition = errors.New("the storage has no conditional writes")

// Create starts an object. Either Commit or Abort must be called. The object replaces one with the same name. Cancelling the context
// aborts, too, but Abort must still be called to wait for that.
func (b *Bucket) Create(ctx context.Context, name string) (*Writer, error) {
	return b.create(ctx, name, false)
}

// CreateNew is Create for an object that must not replace another one: if one of its name exists at the time of Commit, that fails with
// ReasonObjectChanged.
func (b *Bucket) CreateNew(ctx context.Context, name string) (*Writer, error) {
	return b.create(ctx, name, true)
}

func (b *Bucket) create(ctx context.Context, name string, isNew bool) (*Writer, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &Writer{cancel: cancel, bucket: b, name: name, isNew: isNew}
	before := b.before
	if b.folder != "" {
		before = w.holdFile
	}
	options := &blob.WriterOptions{
		BufferSize: partSize, MaxConcurrency: concurrency, BeforeWrite: before, ContentType: "application/octet-stream",
		IfNotExist: isNew,
	}
	if b.pulls {
		w.blob = startUpload(ctx, b.blobs, name, options)
		return w, nil
	}
	blobs, err := b.blobs.NewWriter(ctx, name, options)
	if err != nil {
		cancel()
		return nil, w.explain(err)
	}
	w.blob = blobs
	return w, nil
}

// upload feeds an upload that reads. It is for Azure's driver, which panics when an upload fails that was written to.
type upload struct {
	to   *io.PipeWriter
	done chan struct{}
	// err is the outcome, once done is closed.
	err error
}

func startUpload(ctx context.Context, blobs *blob.Bucket, name string, options *blob.WriterOptions) *upload {
	from, to := io.Pipe()
	u := &upload{to: to, done: make(chan struct{})}
	go func() {
		defer close(u.done)
		u.err = blobs.Upload(ctx, name, from, options)
		_ = from.CloseWithError(u.err) // wakes a Write; without an error everything was read
	}()
	return u
}

func (u *upload) Write(p []byte) (int, error) { return u.to.Write(p) }

func (u *upload) Close() error {
	_ = u.to.Close()
	<-u.done
	return u.err
}

// holdFile keeps the file that the driver writes to.
func (w *Writer) holdFile(as func(any) bool) error {
	var f *os.File
	if !as(&f) {
		return fmt.Errorf("cannot sync the file of %s", w.name)
	}
	w.file = f
	return f.Chmod(fileMode)
}

// Write writes. It may return before the service has anything.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.blob.Write(p)
	w.unflushed += int64(n)
	if err == nil && w.file != nil && w.unflushed >= flushEvery {
		w.unflushed, err = 0, w.file.Sync()
	}
	if err != nil {
		return n, w.explain(err)
	}
	return n, nil
}

// Commit waits until the service has it all and makes the object appear. After an error there is no object, or the one
// that was there before.
func (w *Writer) Commit() error {
	defer w.cancel()
	if w.file != nil {
		if err := w.file.Sync(); err != nil {
			w.Abort()
			return w.explain(err)
		}
	}
	if err := w.blob.Close(); err != nil {
		return w.explain(err)
	}
	if w.file != nil {
		if err := syncFolder(filepath.Dir(w.file.Name())); err != nil {
			return w.explain(err)
		}
	}
	return nil
}

func (w *Writer) explain(err error) error {
	if _, status := answered(err); w.isNew && status == http.StatusNotImplemented {
		err = errors.Join(err, ErrNoCondition)
	}
	return w.bucket.explain(toWrite, w.name, err)
}

// Abort ends the writing without an object, and waits until the service has forgotten what it was sent.
func (w *Writer) Abort() {
	// In this order: closing alone would make an object of what was written so far.
	w.cancel()
	_ = w.blob.Close()
}

// syncFolder makes a rename in the folder last.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	return folder.Sync()
}
