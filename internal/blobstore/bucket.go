package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"

	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// Bucket is a folder in a bucket. Names are relative to the folder. It is safe for concurrent use.
type Bucket struct {
	blobs *blob.Bucket
	// before is called before each object is written.
	before beforeWrite
	// pulls is true if the driver has to read what is written: see upload.
	pulls bool
	// folder is where the files are, empty unless objects are files; makes is true if it is made where it is missing.
	folder      string
	makes       bool
	where       string
	credentials Credentials
}

// beforeWrite gives access to the driver's own writer.
type beforeWrite func(as func(any) bool) error

// Object is an object in a listing.
type Object struct {
	Name string
	// Size in bytes.
	Size    int64
	Changed time.Time
}

// Open returns the bucket, without checking that it exists.
func Open(ctx context.Context, t Target, c Credentials) (*Bucket, error) {
	p, err := t.place()
	if err != nil {
		return nil, err
	}
	if err := checkEndpoint(t.Endpoint); err != nil {
		return nil, err
	}
	b := &Bucket{where: t.URL, credentials: c}
	prefix := ""
	if p.scheme != storage.SchemeFile && p.folder != "" {
		prefix = p.folder + "/"
	}
	switch p.scheme {
	case storage.SchemeS3:
		b.blobs, b.before, err = openS3(ctx, t, p.bucket, c)
	case storage.SchemeGCS:
		b.blobs, err = openGCS(ctx, t, p.bucket, c)
	case storage.SchemeAzure:
		client, problem := azureContainer(t, p.bucket, c)
		if problem != nil {
			return nil, b.explain(toOpen, "", problem)
		}
		b.pulls = true
		b.blobs, err = azureblob.OpenBucket(ctx, client, nil)
	case storage.SchemeFile:
		b.folder, b.makes = p.folder, !t.ReadOnly
		b.blobs, err = openFolder(p.folder, b.makes)
	}
	if err != nil {
		return nil, b.explain(toOpen, "", err)
	}
	if prefix != "" {
		b.blobs = blob.PrefixedBucket(b.blobs, prefix)
	}
	return b, nil
}

// openFolder has temporary files beside those that they become, because a rename works within one volume only, and none
// beside them that hold attributes.
func openFolder(folder string, create bool) (*blob.Bucket, error) {
	return fileblob.OpenBucket(folder, &fileblob.Options{
		CreateDir: create, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
	})
}

func checkEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return misconfigured("the storage's endpoint must look like https://host:port")
	}
	return nil
}

// URL is where an object is.
func (b *Bucket) URL(name string) string { return strings.TrimSuffix(b.where, "/") + "/" + name }

// Close releases the bucket's resources.
func (b *Bucket) Close() error { return b.blobs.Close() }

// Read reads a whole small object, or fails if it is longer than limit bytes.
func (b *Bucket) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	r, err := b.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", b.URL(name), limit)
	}
	return data, err
}

// List iterates over the objects whose names begin with the prefix, without subfolders, in the order of the service. It stops at the
// first error.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		entries := b.blobs.List(&blob.ListOptions{Prefix: prefix, Delimiter: "/"})
		for {
			entry, err := entries.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Object{}, b.explain(toList, "", err))
				return
			}
			if entry.IsDir {
				continue
			}
			if !yield(Object{Name: entry.Key, Size: entry.Size, Changed: entry.ModTime}, nil) {
				return
			}
		}
	}
}

// Delete deletes an object. It is no error if it does not exist.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := b.blobs.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return b.explain(toDelete, name, err)
	}
	return nil
}
