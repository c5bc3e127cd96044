package snapshot

import (
	"cmp"
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
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Listing is the content of a bucket.
type Listing struct {
	// Snapshots are the backups, the newest of each lineage first, the lineages one after the other.
	Snapshots []Manifest
	// Damaged are manifests without a snapshot that could be restored, or that cannot be read, sorted by name.
	Damaged []Damaged
	// Orphans are objects without a manifest whose names are like those of Name.
	Orphans []Orphan
}

// Damaged is a manifest that is damaged, or whose object is, or that the storage refuses to read although it reads others.
type Damaged struct {
	// Manifest is its name.
	Manifest string
	// Problem is what is wrong. Its reason is ReasonSnapshotDamaged, or one of those of storages in api/v1beta2.
	Problem failure.Problem
	// Says is the content of the manifest, zero if it cannot be read.
	Says Manifest
}

// MayBeNewer reports whether the manifest's snapshot may be newer than another one: if the manifest cannot be read, its name may
// have the revision, and if that has not either, it may be.
func (d Damaged) MayBeNewer(than Manifest) bool {
	object := strings.TrimSuffix(d.Manifest, extensionManifest)
	if d.Says.Object != "" {
		return d.Says.Object == object && d.Says.Revision > than.Revision // else it is a copy of another one
	}
	revision, told := revisionIn(object)
	return !told || revision > than.Revision
}

// TakenAt is when the manifest's snapshot was taken, by its content or else its name; zero if unknown.
func (d Damaged) TakenAt() time.Time {
	if d.Says.Object != "" {
		return d.Says.TakenAt
	}
	return timeIn(strings.TrimSuffix(d.Manifest, extensionManifest))
}

// Orphan is an object without a manifest.
type Orphan struct {
	Name    string
	Changed time.Time
}

const (
	// readers is how many manifests are read concurrently.
	readers = 16
	// manifestLimit is the maximum size of a manifest, in bytes. They have about 1000.
	manifestLimit = 64 << 10
)

// Objects are the objects in a bucket, as they were when they were listed. Manifests are read lazily.
type Objects struct {
	bucket  *blobstore.Bucket
	byName  map[string]blobstore.Object
	listing *Listing // nil until it was read
}

// Look lists the objects whose names begin with the prefix.
func Look(ctx context.Context, b *blobstore.Bucket, prefix string) (*Objects, error) {
	byName := map[string]blobstore.Object{}
	for o, err := range b.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		byName[o.Name] = o
	}
	return &Objects{bucket: b, byName: byName}, nil
}

// List reads the manifests of the objects in the bucket whose names begin with the prefix, as Objects.List does.
func List(ctx context.Context, b *blobstore.Bucket, prefix string) (Listing, error) {
	o, err := Look(ctx, b, prefix)
	if err != nil {
		return Listing{}, err
	}
	return o.List(ctx)
}

// Has reports whether there was an object of that name.
func (o *Objects) Has(object string) bool {
	_, ok := o.byName[object]
	return ok
}

// List reads the manifests, once. It sees that an object is there and has the right size; what is in it is not read. Objects of
// others are left out. The caller does not change what it returns.
func (o *Objects) List(ctx context.Context) (Listing, error) {
	if o.listing != nil {
		return *o.listing, nil
	}
	l, manifests := Listing{}, []string(nil)
	for object := range o.byName {
		of, isManifest := strings.CutSuffix(object, extensionManifest)
		switch {
		case isManifest:
			manifests = append(manifests, of)
		case !o.Has(manifestName(object)) && name.MatchString(object):
			l.Orphans = append(l.Orphans, Orphan{Name: object, Changed: o.byName[object].Changed})
		}
	}
	if err := l.read(ctx, o.bucket, manifests, o.byName); err != nil {
		return Listing{}, err
	}
	o.listing = &l
	return l, nil
}

// Others are the backups that were not written by the writer, and whether it has written any: then the others are not all
// read. Manifests that cannot be read are no one's.
func (o *Objects) Others(ctx context.Context, writerUID string) (others []Manifest, own bool, err error) {
	for object := range o.byName {
		if of, isManifest := strings.CutSuffix(object, extensionManifest); isManifest && writtenBy(of, writerUID) {
			return nil, true, nil
		}
	}
	l, err := o.List(ctx)
	if err != nil {
		return nil, false, err
	}
	others = slices.DeleteFunc(slices.Clone(l.Snapshots), func(m Manifest) bool { return m.Writer.UID == writerUID })
	return others, len(others) < len(l.Snapshots), nil
}

// read reads the manifests of objects. If the storage gives out not one of them, that is no matter of single ones.
func (l *Listing) read(ctx context.Context, b *blobstore.Bucket, of []string, objects map[string]blobstore.Object) error {
	var (
		mu      sync.Mutex
		refused error
		given   bool
	)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, object := range of {
		group.Go(func() error {
			m, err := readManifest(ctx, b, object, objects)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case !isRefusal(err):
				given = given || !isStorage(err)
			case ctx.Err() != nil:
				return err
			default:
				refused = err
			}
			return l.add(object, m, err)
		})
	}
	err := group.Wait()
	if err == nil && !given {
		err = refused
	}
	l.sort()
	return err
}

// problem is an error that belongs to one manifest, and to nothing else in the bucket.
type problem struct{ error }

// add files a manifest under what reading it gave.
func (l *Listing) add(object string, m Manifest, err error) error {
	var own problem
	d := Damaged{Manifest: manifestName(object), Says: m}
	switch {
	case err == nil:
		l.Snapshots = append(l.Snapshots, m)
		return nil
	case errors.Is(err, errForeign) || isGone(err): // it was deleted meanwhile
		return nil
	case errors.As(err, &own):
		d.Problem = failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged, Message: own.Error(), Terminal: true}
	case isArchived(err) || isRefusal(err):
		d.Problem = Explain(err)
	default:
		return err
	}
	l.Damaged = append(l.Damaged, d)
	return nil
}

func (l *Listing) sort() {
	slices.SortFunc(l.Snapshots, func(a, b Manifest) int {
		return cmp.Or(cmp.Compare(task.ClusterID(a.Cluster.ID), task.ClusterID(b.Cluster.ID)), newestFirst(a, b))
	})
	slices.SortFunc(l.Damaged, func(a, b Damaged) int { return strings.Compare(a.Manifest, b.Manifest) })
	slices.SortFunc(l.Orphans, func(a, b Orphan) int { return strings.Compare(a.Name, b.Name) })
}

func readManifest(ctx context.Context, b *blobstore.Bucket, object string, objects map[string]blobstore.Object) (Manifest, error) {
	data, err := b.Read(ctx, manifestName(object), manifestLimit)
	switch {
	case isStorage(err):
		return Manifest{}, err
	case err != nil: // it is too long
		return Manifest{}, problem{err}
	}
	m, err := decodeManifest(data)
	if errors.Is(err, errForeign) {
		return Manifest{}, err
	}
	if err != nil {
		return Manifest{}, problem{err}
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

// Find looks for one backup in the bucket, as Objects.Find does.
func Find(ctx context.Context, b *blobstore.Bucket, object string) (Manifest, bool, error) {
	o, err := Look(ctx, b, object)
	if err != nil {
		return Manifest{}, false, err
	}
	return o.Find(ctx, object)
}

// Find returns one backup by its object's name, and false if there is no manifest of that name: the object may exist nevertheless,
// written by another program.
func (o *Objects) Find(ctx context.Context, object string) (Manifest, bool, error) {
	m, err := readManifest(ctx, o.bucket, object, o.byName)
	var own problem
	switch {
	case isGone(err) || errors.Is(err, errForeign):
		return Manifest{}, false, nil
	case errors.As(err, &own):
		return Manifest{}, false, damaged("the manifest of %s: %w", o.bucket.URL(object), err)
	}
	return m, err == nil, err
}

func isGone(err error) bool { return reasonOf(err) == v1beta2.ReasonNoSuchObject }

// isArchived reports whether an object has to be restored from an archive tier before it can be read.
func isArchived(err error) bool { return reasonOf(err) == v1beta2.ReasonObjectArchived }

// isRefusal reports whether an error may belong to one object: the storage was asked, and did not give it out.
func isRefusal(err error) bool {
	switch reasonOf(err) {
	case v1beta2.ReasonStorageAccessDenied, v1beta2.ReasonStorageFailed:
		return true
	}
	return false
}

func isStorage(err error) bool { return reasonOf(err) != "" }

// reasonOf is the reason of an error of the storage's, empty if it is another one: reading a manifest fails for no other reason
// that has a name.
func reasonOf(err error) string {
	p, _ := failure.Of(err)
	return p.Reason
}

// Delete deletes a backup. The manifest goes first: see the package's comment.
func Delete(ctx context.Context, b *blobstore.Bucket, m Manifest) error {
	if err := b.Delete(ctx, manifestName(m.Object)); err != nil {
		return err
	}
	return b.Delete(ctx, m.Object)
}
