package snapshot

import (
	"context"
	"io"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Source opens the stream of a snapshot. The stream ends with the context.
type Source func(ctx context.Context) (*Stream, error)

// Stream is a snapshot being transferred.
type Stream struct {
	// Body is what etcd sends.
	Body io.ReadCloser
	// What is known before it has arrived. See Manifest.
	TakenAt        time.Time
	ClusterID      string
	Member         Member
	Revision, Keys int64
	EtcdVersion    string
	StorageVersion string
	// Stale is true if it may lack later writes of the cluster. See Manifest.
	Stale bool
	// SetBack is true if it is stale although the member had quorum. See Manifest.
	SetBack bool
}

// Job says how to store a snapshot.
type Job struct {
	// Name gives the object's name; see Name and LegacyName.
	Name func(*Stream) string
	// Cluster is what it is of, without the ID, and Writer what it is for.
	Cluster  task.Cluster
	Writer   task.Writer
	Encoding Encoding
	// New is true if no object has that name: one that another writer creates meanwhile is not overwritten.
	New bool
	// Run identifies the run that it is taken in. See Manifest.
	Run string
	// Progress may be nil.
	Progress Progress
	// Spool buffers what the storage does not accept at once.
	Spool Spool
	// StallLimit is how long the transfer may stall; five minutes if 0.
	StallLimit time.Duration
}

// cleanUpTimeout is how long it may take to delete what is not to be.
const cleanUpTimeout = 30 * time.Second

// Save streams a snapshot into the bucket and returns its manifest, which is written, too. After an error there is neither an object
// nor a manifest, unless the storage refuses even to delete: then there is an object without a manifest.
//
// The member serves all of it from one read transaction, and cannot reuse free pages until the last byte was sent: a storage that is
// slower, by more than the spool holds, makes its database grow.
func Save(ctx context.Context, b *blobstore.Bucket, source Source, j Job) (Manifest, error) {
	limit := j.StallLimit
	if limit == 0 {
		limit = stallLimit
	}
	watched, touch, stop := watch(ctx, limit)
	defer stop()
	m, err := save(watched, b, source, j, touch)
	return m, stalled(watched, err)
}

func save(ctx context.Context, b *blobstore.Bucket, source Source, j Job, touch func()) (Manifest, error) {
	stream, err := source(ctx)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = stream.Body.Close() }()
	m := j.manifest(stream)
	create := b.Create
	if j.New {
		create = b.CreateNew
	}
	w, err := create(ctx, m.Object)
	if err != nil {
		return Manifest{}, err
	}
	touch()
	if err := j.move(w, stream, touch, &m); err != nil {
		w.Abort()
		return Manifest{}, err
	}
	touch()
	// The manifest of an earlier object of this name must not describe this one. One that appears now belongs to whichever writer
	// has the name then.
	if !j.New {
		if err := b.Delete(ctx, manifestName(m.Object)); err != nil {
			w.Abort()
			return Manifest{}, err
		}
	}
	if err := w.Commit(); err != nil {
		return Manifest{}, err
	}
	touch()
	if err := describe(ctx, b, m); err != nil {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		_ = Delete(fresh, b, m) // the first error matters more
		return Manifest{}, err
	}
	return m, nil
}

func (j Job) manifest(s *Stream) Manifest {
	cluster := j.Cluster
	cluster.ID = s.ClusterID
	return Manifest{
		Object: j.Name(s), TakenAt: s.TakenAt.UTC().Truncate(time.Second), Cluster: cluster, Member: s.Member,
		Revision: s.Revision, Keys: s.Keys, EtcdVersion: s.EtcdVersion, StorageVersion: s.StorageVersion,
		Compression: j.Encoding.compression(), Encryption: j.Encoding.encryption(), Recipients: j.Encoding.recipients(),
		Writer: j.Writer, Run: j.Run, Stale: s.Stale, SetBack: s.SetBack,
	}
}

// move reads from etcd as fast as it can send, independently of the speed of the storage.
func (j Job) move(to io.Writer, s *Stream, touch func(), m *Manifest) error {
	q := newQueue(j.Spool)
	defer q.close()
	uploaded := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(to, &tracked{Reader: q, touch: touch}, make([]byte, bufferSize))
		q.stop(err)
		uploaded <- err
	}()
	err := transfer(q, &tracked{Reader: s.Body, touch: touch, progress: j.Progress}, j.Encoding, m)
	_ = s.Body.Close()
	q.end(err)
	return <-uploaded // which is that error, if there was none before
}

// transfer copies the snapshot through the encoding, verifies it, and records sizes and checksums in the manifest.
func transfer(to io.Writer, from io.Reader, e Encoding, m *Manifest) error {
	raw := newDigest()
	var stored *meter
	if e != (Encoding{}) {
		stored = newMeter()
		to = io.MultiWriter(to, stored)
	}
	encoder, err := e.encode(to)
	if err != nil {
		return err
	}
	if err := pump(encoder, from, raw); err != nil {
		return err
	}
	if err := raw.check(); err != nil {
		return damaged("the snapshot from %s is incomplete: %w", m.Member.Endpoint, err)
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	m.sumUp(raw, stored)
	return nil
}

// describe writes the manifest.
func describe(ctx context.Context, b *blobstore.Bucket, m Manifest) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	return put(ctx, b, manifestName(m.Object), data)
}

// put writes a small object.
func put(ctx context.Context, b *blobstore.Bucket, name string, data []byte) error {
	w, err := b.Create(ctx, name)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}
