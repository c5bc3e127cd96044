package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// Listing is what is in a bucket.
type Listing struct {
	// Snapshots are the backups, the newest first.
	Snapshots []Manifest
	// Damaged are manifests that describe nothing that could be restored, sorted by name.
	Damaged []Damaged
	// Strays are objects without a manifest whose names are like those of Name.
	Strays []Stray
}

// Damaged is a manifest, or its object, that is not what it was.
type Damaged struct{ Manifest, Problem string }

// Stray is an object without a manifest.
type Stray struct {
	Name    string
	Changed time.Time
}

const (
	// readers is how many manifests are read at the same time.
	readers = 16
	// manifestLimit is how long a manifest may be, in bytes. They have about 1000.
	manifestLimit = 64 << 10
)

// List reads the manifests of the objects whose names begin with the prefix. It sees that an object is there and has the
// right size; what is in it is not read. Objects of others are left out.
func List(ctx context.Context, b *blobstore.Bucket, prefix string) (Listing, error) {
	objects := map[string]blobstore.Object{}
	for o, err := range b.List(ctx, prefix) {
		if err != nil {
			return Listing{}, err
		}
		objects[o.Name] = o
	}
	l := Listing{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for object := range objects {
		of, isManifest := strings.CutSuffix(object, extensionManifest)
		if !isManifest {
			if _, described := objects[manifestName(object)]; !described && name.MatchString(object) {
				mu.Lock()
				l.Strays = append(l.Strays, Stray{Name: object, Changed: objects[object].Changed})
				mu.Unlock()
			}
			continue
		}
		group.Go(func() error {
			m, err := readManifest(ctx, b, of, objects)
			mu.Lock()
			defer mu.Unlock()
			return l.add(of, m, err)
		})
	}
	if err := group.Wait(); err != nil {
		return Listing{}, err
	}
	l.sort()
	return l, nil
}

// problem is an error that belongs to one manifest, and to nothing else in the bucket.
type problem struct{ error }

// add files a manifest under what reading it gave.
func (l *Listing) add(object string, m Manifest, err error) error {
	var own problem
	switch {
	case err == nil:
		l.Snapshots = append(l.Snapshots, m)
	case errors.Is(err, errForeign) || isGone(err): // it was deleted meanwhile
	case errors.As(err, &own):
		l.Damaged = append(l.Damaged, Damaged{Manifest: manifestName(object), Problem: own.Error()})
	default:
		return err
	}
	return nil
}

func (l *Listing) sort() {
	slices.SortFunc(l.Snapshots, newestFirst)
	slices.SortFunc(l.Damaged, func(a, b Damaged) int { return strings.Compare(a.Manifest, b.Manifest) })
	slices.SortFunc(l.Strays, func(a, b Stray) int { return strings.Compare(a.Name, b.Name) })
}

func readManifest(ctx context.Context, b *blobstore.Bucket, object string, objects map[string]blobstore.Object) (Manifest, error) {
	data, err := b.Read(ctx, manifestName(object), manifestLimit)
	var storage *blobstore.Error
	switch {
	case errors.As(err, &storage):
		return Manifest{}, err
	case err != nil: // it is too long
		return Manifest{}, problem{err}
	}
	m, err := decodeManifest(data)
	if errors.Is(err, errForeign) {
		return m, err
	}
	if err != nil {
		return m, problem{err}
	}
	found, exists := objects[object]
	switch {
	case m.Object != object:
		return m, problem{fmt.Errorf("it describes %s", m.Object)}
	case !exists:
		return m, problem{errors.New("its object is missing")}
	case found.Size != m.StoredSize:
		return m, problem{fmt.Errorf("its object has %d bytes instead of %d", found.Size, m.StoredSize)}
	}
	return m, nil
}

// Find returns one backup by its object's name, and false if there is no manifest of that name: the object may be there
// nevertheless, from somebody else.
func Find(ctx context.Context, b *blobstore.Bucket, object string) (Manifest, bool, error) {
	objects := map[string]blobstore.Object{}
	for o, err := range b.List(ctx, object) {
		if err != nil {
			return Manifest{}, false, err
		}
		objects[o.Name] = o
	}
	m, err := readManifest(ctx, b, object, objects)
	var own problem
	switch {
	case isGone(err) || errors.Is(err, errForeign):
		return Manifest{}, false, nil
	case errors.As(err, &own):
		return Manifest{}, false, damaged("the manifest of %s: %w", b.URL(object), err)
	}
	return m, err == nil, err
}

func isGone(err error) bool {
	var storage *blobstore.Error
	return errors.As(err, &storage) && storage.Reason == v1beta2.ReasonNoSuchObject
}

// Delete deletes a backup. The manifest goes first: see the package's comment.
func Delete(ctx context.Context, b *blobstore.Bucket, m Manifest) error {
	if err := b.Delete(ctx, manifestName(m.Object)); err != nil {
		return err
	}
	return b.Delete(ctx, m.Object)
}
