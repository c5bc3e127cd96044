package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// encodings are all there are.
func encodings(t testing.TB) map[string]Encoding {
	return map[string]Encoding{
		"plain": {}, "compressed": {Compress: true}, "encrypted": {Key: key(t, "correct horse battery staple")},
		"both": {Compress: true, Key: key(t, "correct horse battery staple")},
	}
}

// TestSaveEtcd backs a real etcd up in every encoding, and reads each object back.
func TestSaveEtcd(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	c := client(t, cluster)
	revision := fill(t, c, 300)
	waitStorageVersion(t, c)
	for title, e := range encodings(t) {
		t.Run(title, func(t *testing.T) {
			b, path := bucket(t)
			var moved int64
			j := job(e)
			j.Progress = func(bytes int64) { moved = bytes }
			m := mustSave(t, b, FromEtcd(config(cluster), cluster.Members[0].ClusterID()), j)
			early := m.StorageVersion == "" // etcd notes it some seconds after its first start
			if m.Revision != revision || m.Keys != 299 || m.Cluster.ID == "" || m.Member.ID == "" || m.EtcdVersion != "3.7.3" ||
				!early && m.StorageVersion != "3.7.0" || m.Cluster.UID != "cluster-uid" || m.Writer.UID != uid || moved != m.Size {
				t.Errorf("got %+v, %d bytes moved", m, moved)
			}
			stored, err := os.ReadFile(filepath.Join(path, m.Object))
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(stored); hex.EncodeToString(sum[:]) != m.StoredSHA256 || int64(len(stored)) != m.StoredSize {
				t.Errorf("the object has %d bytes, the manifest says %+v", len(stored), m)
			}
			if l := list(t, b); len(l.Snapshots) != 1 || l.Snapshots[0] != m || len(l.Damaged)+len(l.Orphans) > 0 {
				t.Errorf("listed %+v", l)
			}
			var raw bytes.Buffer
			if err := fetchOwn(t.Context(), b, m, e.Key, &raw, nil); err != nil || int64(raw.Len()) != m.Size {
				t.Errorf("fetched %d bytes, %v", raw.Len(), err)
			}
			content, err := VerifyRestore(t.Context(), b, m, e.Key, t.TempDir(), nil)
			if err != nil || content.Revision != revision || content.Keys != 299 || content.KeysAt != 299 || content.Version != "3.7" {
				t.Errorf("verified %+v, %v", content, err)
			}
		})
	}
}

// waitStorageVersion waits until etcd has noted the version of its data's schema, which takes it some seconds.
func waitStorageVersion(t *testing.T, c *clientv3.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		s, err := c.Status(ctx, c.Endpoints()[0])
		if err != nil {
			t.Fatal(err)
		}
		if s.StorageVersion != "" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("etcd has not noted its storage version")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestSaveFaults has everything go wrong on the way. Nothing may be left.
func TestSaveFaults(t *testing.T) {
	whole := sealed(bytes.Repeat([]byte("0123456789abcdef"), 1<<17)) // 2 MiB
	flipped := bytes.Clone(whole)
	flipped[1<<20] ^= 1
	badSum := bytes.Clone(whole)
	badSum[len(badSum)-1] ^= 1
	half := func() io.Reader { return bytes.NewReader(whole[:1<<20]) }
	for title, c := range map[string]struct {
		body io.Reader
		want string
	}{
		"empty":               {strings.NewReader(""), v1beta2.ReasonSnapshotDamaged},
		"the checksum only":   {bytes.NewReader(sealed(nil)), v1beta2.ReasonSnapshotDamaged},
		"without a checksum":  {bytes.NewReader(whole[:len(whole)-trailer]), v1beta2.ReasonSnapshotDamaged},
		"cut off in a page":   {bytes.NewReader(whole[:len(whole)-1000]), v1beta2.ReasonSnapshotDamaged},
		"cut off at a page":   {bytes.NewReader(whole[:len(whole)-512]), v1beta2.ReasonSnapshotDamaged},
		"a bit flipped":       {bytes.NewReader(flipped), v1beta2.ReasonSnapshotDamaged},
		"in the checksum":     {bytes.NewReader(badSum), v1beta2.ReasonSnapshotDamaged},
		"no snapshot":         {strings.NewReader(strings.Repeat("no snapshot", 1000)), v1beta2.ReasonSnapshotDamaged},
		"etcd breaks off":     {io.MultiReader(half(), iotest.ErrReader(failure.New(failure.Problem{Reason: v1beta2.ReasonEtcdFailed}))), v1beta2.ReasonEtcdFailed},
		"etcd's end is early": {io.MultiReader(half(), iotest.ErrReader(io.ErrUnexpectedEOF)), v1beta2.ReasonSnapshotFailed},
	} {
		for name, e := range encodings(t) {
			t.Run(title+", "+name, func(t *testing.T) {
				b, path := bucket(t)
				if s, ok := c.body.(io.Seeker); ok {
					_, _ = s.Seek(0, io.SeekStart)
				} else if name != "plain" {
					return // it was read already
				}
				_, err := Save(t.Context(), b, stream(c.body), job(e))
				if reason(err) != c.want {
					t.Errorf("got %v", err)
				}
				if left := files(t, path); len(left) > 0 {
					t.Errorf("left %v", left)
				}
			})
		}
	}
}

// TestSaveCancelled ends the context in the middle.
func TestSaveCancelled(t *testing.T) {
	b, path := bucket(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j := job(Encoding{Compress: true})
	j.Progress = func(bytes int64) {
		if bytes > 1<<20 {
			cancel()
		}
	}
	whole := sealed(make([]byte, 4<<20))
	if _, err := Save(ctx, b, stream(bytes.NewReader(whole)), j); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := files(t, path); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// hung gives something and then nothing until the context ends, as a server does that hangs.
type hung struct {
	io.Reader
	ctx context.Context
}

func (h *hung) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		<-h.ctx.Done()
		return 0, h.ctx.Err()
	}
	return n, err
}

func TestSaveStalled(t *testing.T) {
	b, path := bucket(t)
	j := job(Encoding{})
	j.StallLimit = 50 * time.Millisecond
	_, err := Save(t.Context(), b, func(ctx context.Context) (*Stream, error) {
		return stream(&hung{Reader: bytes.NewReader(make([]byte, 1<<20)), ctx: ctx})(ctx)
	}, j)
	if reason(err) != v1beta2.ReasonSnapshotStalled {
		t.Errorf("got %v", err)
	}
	if left := files(t, path); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestSaveStorageFails takes the folder away in the middle.
func TestSaveStorageFails(t *testing.T) {
	b, path := bucket(t)
	j := job(Encoding{})
	j.Progress = func(int64) { _ = os.RemoveAll(path) }
	if _, err := Save(t.Context(), b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), j); reason(err) != v1beta2.ReasonStorageFailed &&
		reason(err) != v1beta2.ReasonNoSuchBucket {
		t.Errorf("got %v", err)
	}
	if left := files(t, path); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestSaveAgain overwrites an object of the same name, as coreos/etcd-operator's users expect of a backup that is taken
// once.
func TestSaveAgain(t *testing.T) {
	b, path := bucket(t)
	j := job(Encoding{})
	j.Name = func(*Stream) string { return "key" }
	mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), j)
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 2<<20)))), j)
	if l := list(t, b); len(l.Snapshots) != 1 || l.Snapshots[0] != m || m.Size != 2<<20+trailer {
		t.Errorf("listed %+v", l)
	}
	whole := sealed(make([]byte, 3<<20))
	whole[0] = 1
	if _, err := Save(t.Context(), b, stream(bytes.NewReader(whole)), j); err == nil {
		t.Error("a damaged snapshot was saved")
	}
	if l := list(t, b); len(l.Snapshots) != 1 || l.Snapshots[0] != m {
		t.Errorf("a try that failed took the backup away: %v", files(t, path))
	}
}

// TestSaveRaced has someone else save a backup under a name that was free: that one stays, as it was.
func TestSaveRaced(t *testing.T) {
	b, path := bucket(t)
	mine, theirs := job(Encoding{}), job(Encoding{})
	name := func(*Stream) string { return "key" }
	mine.Name, theirs.Name, mine.New = name, name, true
	theirs.Writer.Name = "another"
	var won Manifest
	_, err := Save(t.Context(), b, func(ctx context.Context) (*Stream, error) {
		won = mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1<<20)))), theirs)
		return stream(bytes.NewReader(sealed(make([]byte, 2<<20))))(ctx)
	}, mine)
	if reason(err) != v1beta2.ReasonObjectChanged {
		t.Errorf("got %v", err)
	}
	if l := list(t, b); len(l.Snapshots) != 1 || l.Snapshots[0] != won {
		t.Errorf("listed %+v of %v", l, files(t, path))
	}
}
