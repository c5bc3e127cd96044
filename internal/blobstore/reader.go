package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	gcs "cloud.google.com/go/storage"
	azureblobs "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// A broken connection is resumed where it broke, after firstPause, then twice as long each time: over half a minute in all. Then the
// storage counts as unreachable, and the read fails.
const (
	firstPause = 500 * time.Millisecond
	resumes    = 6
	// worthwhile is how many bytes must be read before the count of failures restarts: a connection that breaks after every few bytes
	// is useless.
	worthwhile = 1 << 20
)

// Open reads an object. It must be closed. If the connection breaks the read resumes where it was, in the same object: one that was
// overwritten meanwhile is an error.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := b.blobs.NewReader(ctx, name, nil)
	if err != nil {
		return nil, b.explain(toRead, name, err)
	}
	return &reader{ctx: ctx, blob: r, bucket: b, name: name, begun: editionOf(r)}, nil
}

// reader converts its errors to Error, and has none of the blob's other methods, some of which write without a chance to
// abort.
type reader struct {
	ctx    context.Context //nolint:containedctx // io.Reader takes none
	blob   *blob.Reader    // nil while there is no connection
	bucket *Bucket
	name   string
	begun  edition
	// offset is how many bytes were read, failures how often it had to resume since the offset was at mark.
	offset, mark int64
	failures     int
}

// edition distinguishes an object from one that has overwritten it.
type edition struct {
	size    int64
	changed time.Time
	// tag is the service's entity tag of the content, empty if it has none.
	tag string
}

func editionOf(r *blob.Reader) edition {
	e := edition{size: r.Size(), changed: r.ModTime()}
	var (
		amazon s3.GetObjectOutput
		azure  azureblobs.DownloadStreamResponse
		google *gcs.Reader
	)
	switch {
	case r.As(&amazon):
		e.tag = aws.ToString(amazon.ETag)
	case r.As(&azure) && azure.ETag != nil:
		e.tag = string(*azure.ETag)
	case r.As(&google):
		e.tag = fmt.Sprint(google.Attrs.Generation)
	}
	return e
}

func (e edition) same(other edition) bool {
	return e.size == other.size && e.changed.Equal(other.changed) && e.tag == other.tag
}

// Read implements io.Reader. A failure that no retry fixes is an Error.
func (r *reader) Read(p []byte) (int, error) {
	for {
		n, err := r.read(p)
		r.offset += int64(n)
		switch {
		case err == nil || n > 0: // an error that was not the end comes again
			return n, nil
		case errors.Is(err, io.EOF) && r.offset >= r.begun.size, r.begun.size > 0 && r.offset == r.begun.size:
			return 0, io.EOF // it is complete, whatever happened to the connection
		case errors.Is(err, io.EOF): // a proxy on the way has closed it cleanly
			err = io.ErrUnexpectedEOF
		}
		if err := r.resume(r.bucket.explain(toRead, r.name, err)); err != nil {
			return 0, err
		}
	}
}

// read reads from the connection, which it makes if there is none.
func (r *reader) read(p []byte) (int, error) {
	if r.blob == nil {
		again, err := r.bucket.blobs.NewRangeReader(r.ctx, r.name, r.offset, -1, nil)
		if err != nil {
			return 0, err
		}
		r.blob = again
		if !editionOf(again).same(r.begun) {
			return 0, r.changed()
		}
	}
	return r.blob.Read(p)
}

// changed is the error of an object that is no longer the one that was opened.
func (r *reader) changed() error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonObjectChanged, Message: fmt.Sprintf(
		"%s was overwritten or deleted while it was read; the next attempt reads what is there then", r.bucket.URL(r.name))})
}

// resume makes the next read use a new connection after a pause, or returns why it cannot.
func (r *reader) resume(cause error) error {
	known, ok := failure.Of(cause)
	switch {
	case r.ctx.Err() != nil || !ok:
		return cause
	case known.Reason == v1beta2.ReasonNoSuchObject: // as services call it that are asked for what was opened
		return r.changed()
	case known.Terminal || known.Reason == v1beta2.ReasonObjectChanged:
		return cause
	}
	if r.offset-r.mark >= worthwhile {
		r.failures = 0
	}
	if r.failures == resumes {
		return cause
	}
	r.mark = r.offset
	r.failures++
	_ = r.Close()
	select {
	case <-time.After(firstPause << (r.failures - 1)):
		return nil
	case <-r.ctx.Done():
		return cause
	}
}

func (r *reader) Close() error {
	if r.blob == nil {
		return nil
	}
	err := r.blob.Close()
	r.blob = nil
	return err
}
