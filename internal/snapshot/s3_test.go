package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestS3 asks one real server for everything: it takes seconds to start.
func TestS3(t *testing.T) {
	server := storetest.StartMinIO(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *storetest.MinIO)
	}{
		{"round trip", testS3RoundTrip},
		{"faults", testS3Faults},
		{"read only", testS3ReadOnly},
		{"no manifest", testS3NoManifest},
		{"held", testS3Held},
		{"memory", testS3Memory},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, server) })
	}
}

func s3Bucket(t *testing.T, server *storetest.MinIO, c blobstore.Credentials) *blobstore.Bucket {
	t.Helper()
	target := server.Target
	target.URL += "/" + strings.ReplaceAll(t.Name(), "/", "-")
	b, err := blobstore.Open(t.Context(), target, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func testS3RoundTrip(t *testing.T, server *storetest.MinIO) {
	cluster := embedtest.Start(t, 1)
	fill(t, client(t, cluster), 100)
	b := s3Bucket(t, server, server.Credentials)
	var all []Manifest
	for _, e := range encodings(t) {
		m := mustSave(t, b, FromEtcd(config(cluster), 0), job(e))
		if _, err := VerifyRestore(t.Context(), b, m, e.Key, t.TempDir(), nil); err != nil {
			t.Errorf("%s: %v", m.Object, err)
		}
		all = append(all, m)
	}
	if l := list(t, b); len(l.Snapshots) != len(all) || len(l.Damaged)+len(l.Orphans) > 0 {
		t.Errorf("listed %+v", l)
	}
	for _, m := range all {
		if err := Delete(t.Context(), b, m); err != nil {
			t.Error(err)
		}
	}
	if l := list(t, b); len(l.Snapshots) > 0 {
		t.Errorf("left %+v", l)
	}
}

// testS3Faults ends uploads of several parts early. Neither an object nor a part may be left.
func testS3Faults(t *testing.T, server *storetest.MinIO) {
	b := s3Bucket(t, server, server.Credentials)
	whole := sealed(make([]byte, 64<<20))
	flipped := bytes.Clone(whole)
	flipped[0] ^= 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := job(Encoding{})
	stopped.Progress = func(bytes int64) {
		if bytes > 60<<20 {
			cancel()
		}
	}
	if _, err := Save(ctx, b, stream(bytes.NewReader(whole)), stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	for title, data := range map[string][]byte{"flipped": flipped, "cut off": whole[:len(whole)-512]} {
		if _, err := Save(t.Context(), b, stream(bytes.NewReader(data)), job(Encoding{})); reason(err) != v1beta2.ReasonSnapshotDamaged {
			t.Errorf("%s: got %v", title, err)
		}
	}
	for o, err := range b.List(t.Context(), "") {
		t.Errorf("left %s, %v", o.Name, err)
	}
	if parts := server.Uploads(t, ""); parts > 0 {
		t.Errorf("left %d uploads", parts)
	}
}

func testS3ReadOnly(t *testing.T, server *storetest.MinIO) {
	reader := server.User(t, "reader", "s3:GetObject", "s3:ListBucket")
	m := mustSave(t, s3Bucket(t, server, server.Credentials), stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{}))
	b := s3Bucket(t, server, reader)
	if _, err := Save(t.Context(), b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{})); reason(err) != v1beta2.ReasonStorageReadOnly {
		t.Errorf("got %v", err)
	}
	if err := Delete(t.Context(), b, m); reason(err) != v1beta2.ReasonStorageReadOnly {
		t.Errorf("got %v", err)
	}
	if l := list(t, b); len(l.Snapshots) != 1 {
		t.Errorf("listed %+v", l)
	}
}

// testS3NoManifest has the storage take the object and refuse the manifest. Then the object has to go, too.
func testS3NoManifest(t *testing.T, server *storetest.MinIO) {
	b := s3Bucket(t, server, server.UserExcept(t, "half", extensionManifest))
	if _, err := Save(t.Context(), b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{})); reason(err) != v1beta2.ReasonStorageReadOnly {
		t.Errorf("got %v", err)
	}
	for o, err := range b.List(t.Context(), "") {
		t.Errorf("left %s, %v", o.Name, err)
	}
}

// testS3Held has the storage hold the oldest backup: whole, or its object alone. It stays a backup, and the others go.
func testS3Held(t *testing.T, server *storetest.MinIO) {
	for title, suffix := range map[string]string{"object": "", "manifest": extensionManifest} {
		t.Run(title, func(t *testing.T) {
			all := s3Bucket(t, server, server.Credentials)
			var own []Manifest
			for i := range 4 {
				j := job(Encoding{})
				j.Name = func(*Stream) string { return Name(int64(i), noon, uid, Encoding{}) }
				own = append(own, mustSave(t, all, func(ctx context.Context) (*Stream, error) {
					s, err := stream(bytes.NewReader(sealed(make([]byte, 512))))(ctx)
					s.Revision = int64(i)
					return s, err
				}, j))
			}
			before, err := all.Read(t.Context(), manifestName(own[0].Object), manifestLimit)
			if err != nil {
				t.Fatal(err)
			}
			b := s3Bucket(t, server, server.UserHeld(t, "held-"+title, own[0].Object+suffix))
			deleted, err := Prune(t.Context(), b, list(t, b), task.Policy{Last: 1}, own[3], noon)
			if reason(err) != v1beta2.ReasonStorageReadOnly || !slices.Equal(deleted, own[1:3]) {
				t.Errorf("deleted %v, %v", deleted, err)
			}
			if l := list(t, b); !slices.Equal(l.Snapshots, []Manifest{own[3], own[0]}) || len(l.Damaged)+len(l.Orphans) > 0 {
				t.Errorf("left %+v", l)
			}
			if after, err := all.Read(t.Context(), manifestName(own[0].Object), manifestLimit); !bytes.Equal(after, before) {
				t.Errorf("its manifest is now %s, %v", after, err)
			}
		})
	}
}

// generated is a snapshot of size bytes, in no file: random bytes, which do not compress, and the checksum.
type generated struct {
	random *rand.ChaCha8
	left   int64
	hash   hash.Hash
	sum    io.Reader
}

func generate(size int64) *generated {
	return &generated{random: rand.NewChaCha8([32]byte{}), left: size, hash: sha256.New()}
}

func (g *generated) Read(p []byte) (int, error) {
	if g.left == 0 {
		if g.sum == nil {
			g.sum = bytes.NewReader(g.hash.Sum(nil))
		}
		return g.sum.Read(p)
	}
	p = p[:min(int64(len(p)), g.left)]
	_, _ = g.random.Read(p)
	g.hash.Write(p)
	g.left -= int64(len(p))
	return len(p), nil
}

// testS3Memory moves 1 GiB there and back, compressed and encrypted, and looks at the heap on the way.
func testS3Memory(t *testing.T, server *storetest.MinIO) {
	const size, limit = 1 << 30, 128 << 20
	b := s3Bucket(t, server, server.Credentials)
	e := Encoding{Compress: true, Key: key(t, "correct horse battery staple")}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak, looked uint64
	look := func(bytes int64) {
		if uint64(bytes) < looked+16<<20 && bytes < size {
			return
		}
		looked = uint64(bytes)
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapInuse)
	}
	j := job(e)
	j.Progress = look
	m := mustSave(t, b, stream(generate(size)), j)
	up := peak - min(peak, before.HeapInuse)
	peak, looked = 0, 0
	runtime.GC()
	if err := VerifyChecksum(t.Context(), b, m, e.Key, look); err != nil {
		t.Fatal(err)
	}
	down := peak - min(peak, before.HeapInuse)
	t.Logf("the heap grew by %d MiB to write %d MiB, and by %d MiB to read them", up>>20, m.Size>>20, down>>20)
	if m.Size != size+trailer || up == 0 || up > limit || down > limit {
		t.Errorf("the heap grew by %d and %d bytes for %d", up, down, m.Size)
	}
}
