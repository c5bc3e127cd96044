package blobstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// flaky is a service with one object, whose connections break.
type flaky struct {
	driver.Bucket
	content []byte
	// opened counts connections. Each gives so many bytes, and ends with what ends tells of it.
	opened int
	gives  int
	ends   func(connection int) error
	// refuses is why a connection is not made, nil if it is; edit changes the object before one is.
	refuses func(connection int) error
	edit    func(connection int, f *flaky)
	changed time.Time
}

func (f *flaky) NewRangeReader(_ context.Context, _ string, offset, _ int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	f.opened++
	if f.edit != nil {
		f.edit(f.opened, f)
	}
	if f.refuses != nil {
		if err := f.refuses(f.opened); err != nil {
			return nil, err
		}
	}
	rest := f.content[offset:]
	c := &connection{attributes: driver.ReaderAttributes{Size: int64(len(f.content)), ModTime: f.changed}, err: io.EOF}
	if len(rest) > f.gives {
		rest, c.err = rest[:f.gives], f.ends(f.opened)
	}
	c.rest = bytes.NewReader(rest)
	return c, nil
}

func (f *flaky) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.Unknown }
func (f *flaky) ErrorAs(error, any) bool            { return false }
func (f *flaky) Close() error                       { return nil }

type connection struct {
	rest       *bytes.Reader
	err        error
	attributes driver.ReaderAttributes
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.rest.Read(p)
	if errors.Is(err, io.EOF) {
		err = c.err
	}
	return n, err
}
func (c *connection) Close() error                         { return nil }
func (c *connection) Attributes() *driver.ReaderAttributes { return &c.attributes }
func (c *connection) As(any) bool                          { return false }

// refused is what no one's listening is like.
var refused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}

// TestReadResumes has connections break in every way.
func TestReadResumes(t *testing.T) {
	const mib = 1 << 20
	reset := func(int) error { return syscall.ECONNRESET }
	for title, c := range map[string]struct {
		service flaky
		// want is the reason, empty if all was read; opened is how many connections it took, in how much time.
		want   string
		opened int
		took   time.Duration
	}{
		"never":                     {flaky{gives: 8 * mib}, "", 1, 0},
		"reset":                     {flaky{gives: 3 * mib, ends: reset}, "", 3, time.Second},
		"closed in good order":      {flaky{gives: 3 * mib, ends: func(int) error { return io.EOF }}, "", 3, time.Second},
		"cut off":                   {flaky{gives: 3 * mib, ends: func(int) error { return io.ErrUnexpectedEOF }}, "", 3, time.Second},
		"before its last byte":      {flaky{gives: 8*mib - 1, ends: reset}, "", 2, time.Second / 2},
		"nothing ever comes":        {flaky{gives: 0, ends: reset}, v1beta2.ReasonStorageUnreachable, 7, 31500 * time.Millisecond},
		"hardly anything comes":     {flaky{gives: 1000, ends: reset}, v1beta2.ReasonStorageUnreachable, 7, 31500 * time.Millisecond},
		"enough comes, many times":  {flaky{gives: mib, ends: reset}, "", 8, 3500 * time.Millisecond},
		"away for some seconds":     {flaky{gives: 5 * mib, ends: reset, refuses: until(4, refused)}, "", 5, 7500 * time.Millisecond},
		"away for good":             {flaky{gives: 5 * mib, ends: reset, refuses: until(99, refused)}, v1beta2.ReasonStorageUnreachable, 7, 31500 * time.Millisecond},
		"access is taken away":      {flaky{gives: 5 * mib, ends: reset, refuses: until(99, &smithy.GenericAPIError{Code: "ExpiredToken"})}, v1beta2.ReasonStorageCredentialsRefused, 2, time.Second / 2},
		"written over, as long":     {flaky{gives: 5 * mib, ends: reset, edit: func(n int, f *flaky) { f.changed = time.Unix(int64(n), 0) }}, v1beta2.ReasonObjectChanged, 2, time.Second / 2},
		"written over, and shorter": {flaky{gives: 5 * mib, ends: reset, edit: func(n int, f *flaky) { f.content = f.content[:8*mib-n] }}, v1beta2.ReasonObjectChanged, 2, time.Second / 2},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := c.service
				f.content = bytes.Repeat([]byte("01234567"), mib)
				b := &Bucket{where: "s3://bucket", blobs: blob.NewBucket(&f)}
				begun := time.Now()
				r, err := b.Open(t.Context(), "object")
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				if err == nil && !bytes.Equal(got, f.content) || !bytes.HasPrefix(f.content, got) {
					t.Errorf("read %d bytes that are not the object's, %v", len(got), err)
				}
				if (err == nil) != (c.want == "") || err != nil && reason(t, err) != c.want {
					t.Errorf("got %v, want %q", err, c.want)
				}
				if took := time.Since(begun); f.opened != c.opened || took != c.took {
					t.Errorf("it took %d connections and %s, want %d and %s", f.opened, took, c.opened, c.took)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// until fails the connections after the first one, up to another.
func until(last int, err error) func(int) error {
	return func(n int) error {
		if n > 1 && n <= last {
			return err
		}
		return nil
	}
}

// TestReadEnds ends the context while a connection is waited for.
func TestReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flaky{content: make([]byte, 1000), gives: 500, ends: func(int) error { return syscall.ECONNRESET }, refuses: until(99, refused)}
		b := &Bucket{where: "s3://bucket", blobs: blob.NewBucket(&f)}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r, err := b.Open(ctx, "object")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if n, err := io.Copy(io.Discard, r); n != 500 || reason(t, err) != v1beta2.ReasonStorageUnreachable || time.Since(begun) != 2*time.Second {
			t.Errorf("read %d bytes in %s, %v", n, time.Since(begun), err)
		}
	})
}
