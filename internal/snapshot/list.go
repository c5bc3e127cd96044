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
)

// Listing is what is in a bucket.
type Listing struct {
	// Snapshots are the backups, the newest of each lineage first, the lineages one after the other.
	Snapshots []Manifest
	// Damaged are manifests that describe nothing that could be restored, or that cannot be read, sorted by name.
	Damaged []Damaged
	// Strays are objects without a manifest whose names are like those of Name.
	Strays []Stray
}

// Damaged is a manifest, or its object, that is not what it was, or that the storage does not give out while it does others.
type Damaged struct {
	// Manifest is its name, and Problem what is wrong.
	Manifest, Problem string
	// Reason is ReasonSnapshotDamaged, or one of the reasons of storages in api/v1beta2; Lasting is false if another look may
	// go better.
	Reason  string
	Lasting bool
	// Says is what the manifest says, zero if it cannot be read.
	Says Manifest
}

// MayBeNewer tells whether what the manifest was of may have more than a snapshot: if the manifest cannot be read, its name
// may tell the revision, and if that tells nothing either, nobody knows.
func (d Damaged) MayBeNewer(than Manifest) bool {
	object := strings.TrimSuffix(d.Manifest, extensionManifest)
	if d.Says.Object != "" {
		return d.Says.Object == object && d.Says.Revision > than.Revision // else it is a copy of another one
	}
	revision, told := revisionIn(object)
	return !told || revision > than.Revision
}

// TakenAt is when what the manifest was of was taken, as it says, or else its name; zero if nothing tells.
func (d Damaged) TakenAt() time.Time {
	if d.Says.Object != "" {
		return d.Says.TakenAt
	}
	return timeIn(strings.TrimSuffix(d.Manifest, extensionManifest))
}

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
	objects, err := scan(ctx, b, prefix)
	if err != nil {
		return Listing{}, err
	}
	l, manifests := Listing{}, []string(nil)
	for object := range objects {
		of, isManifest := strings.CutSuffix(object, extensionManifest)
		_, described := objects[manifestName(object)]
		switch {
		case isManifest:
			manifests = append(manifests, of)
		case !described && name.MatchString(object):
			l.Strays = append(l.Strays, Stray{Name: object, Changed: objects[object].Changed})
		}
	}
	if err := l.read(ctx, b, manifests, objects); err != nil {
		return Listing{}, err
	}
	return l, nil
}

// Others are the backups whose names begin with the prefix and that were not written by the writer, and whether it has
// written any there: then the others are not all read. Manifests that cannot be read are nobody's.
func Others(ctx context.Context, b *blobstore.Bucket, prefix, writerUID string) (others []Manifest, own bool, err error) {
	objects, err := scan(ctx, b, prefix)
	if err != nil {
		return nil, false, err
	}
	var manifests []string
	for object := range objects {
		of, isManifest := strings.CutSuffix(object, extensionManifest)
		switch {
		case isManifest && writtenBy(of, writerUID):
			return nil, true, nil
		case isManifest:
			manifests = append(manifests, of)
		}
	}
	l := Listing{}
	if err := l.read(ctx, b, manifests, objects); err != nil {
		return nil, false, err
	}
	others = slices.DeleteFunc(l.Snapshots, func(m Manifest) bool { return m.Writer.UID == writerUID })
	return others, len(others) < len(l.Snapshots), nil
}

// scan lists objects by their names.
func scan(ctx context.Context, b *blobstore.Bucket, prefix string) (map[string]blobstore.Object, error) {
	objects := map[string]blobstore.Object{}
	for o, err := range b.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		objects[o.Name] = o
	}
	return objects, nil
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
		d.Problem, d.Reason, d.Lasting = own.Error(), v1beta2.ReasonSnapshotDamaged, true
	case isArchived(err) || isRefusal(err):
		d.Reason, d.Problem, d.Lasting = Explain(err)
	default:
		return err
	}
	l.Damaged = append(l.Damaged, d)
	return nil
}

func (l *Listing) sort() {
	slices.SortFunc(l.Snapshots, func(a, b Manifest) int {
		return cmp.Or(cmp.Compare(ClusterID(a.Cluster.ID), ClusterID(b.Cluster.ID)), newestFirst(a, b))
	})
	slices.SortFunc(l.Damaged, func(a, b Damaged) int { return strings.Compare(a.Manifest, b.Manifest) })
	slices.SortFunc(l.Strays, func(a, b Stray) int { return strings.Compare(a.Name, b.Name) })
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

func isGone(err error) bool { return reasonOf(err) == v1beta2.ReasonNoSuchObject }

// isArchived tells whether an object has to be brought back before it can be read.
func isArchived(err error) bool { return reasonOf(err) == v1beta2.ReasonObjectArchived }

// isRefusal tells whether an error may belong to one object: the storage was asked, and did not give it out.
func isRefusal(err error) bool {
	switch reasonOf(err) {
	case v1beta2.ReasonStorageAccessDenied, v1beta2.ReasonStorageFailed:
		return true
	}
	return false
}

func isStorage(err error) bool { return reasonOf(err) != "" }

// reasonOf is the storage's reason of an error, empty if it is another one.
func reasonOf(err error) string {
	var storage *blobstore.Error
	if errors.As(err, &storage) {
		return storage.Reason
	}
	return ""
}

// Delete deletes a backup. The manifest goes first: see the package's comment.
func Delete(ctx context.Context, b *blobstore.Bucket, m Manifest) error {
	if err := b.Delete(ctx, manifestName(m.Object)); err != nil {
		return err
	}
	return b.Delete(ctx, m.Object)
}
