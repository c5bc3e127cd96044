package snapshot

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

var who = task.Identity{Name: "example-0", PeerURL: "http://example-0.example.ns.svc:2380", Token: "uid-1"}

// backUp saves a real etcd and fetches the snapshot into a file.
func backUp(t *testing.T, cluster *embedtest.Cluster) (*blobstore.Bucket, Manifest, string) {
	t.Helper()
	b, _ := bucket(t)
	m := mustSave(t, b, FromEtcd(config(cluster), 0), job(Encoding{Compress: true}))
	file := filepath.Join(t.TempDir(), "snapshot.db")
	if _, err := FetchFile(t.Context(), b, m.Object, &m, nil, file, nil); err != nil {
		t.Fatal(err)
	}
	return b, m, file
}

// start runs a real etcd on restored data.
func start(t *testing.T, data string) *embedtest.Cluster {
	t.Helper()
	return embedtest.Start(t, 1, func(c *embed.Config) { c.Dir = data })
}

// TestRestore takes a real etcd from a backup to new data and back to a backup.
func TestRestore(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	revision := fill(t, client(t, cluster), 50)
	_, _, file := backUp(t, cluster)
	volume := t.TempDir()
	data := filepath.Join(volume, "data")
	// What an interrupted try has left.
	if err := os.MkdirAll(filepath.Join(data+".restoring", "member", "snap"), 0o700); err != nil {
		t.Fatal(err)
	}
	before, content, err := Restore(file, data, "3.7.3", who, revision-1)
	if err != nil || content.Revision != revision+task.RevisionBump || content.Revisions != int(revision) ||
		before.Revision != revision || before.Current != revision {
		t.Fatalf("restored %+v of %+v, %v", content, before, err)
	}
	if left := files(t, volume); len(left) != 1 || left[0] != "data" {
		t.Errorf("left %v", left)
	}
	if _, _, err := Restore(file, data, "3.7.3", who, 0); err == nil {
		t.Error("data was overwritten")
	}

	restored := start(t, data)
	member, id := plan.IDs(who.Token, map[string]string{who.Name: who.PeerURL})
	if got := restored.Members[0]; got.ID() != member[who.Name] || got.ClusterID() != id {
		t.Errorf("it is member %x of cluster %x, not %x of %x", got.ID(), got.ClusterID(), member[who.Name], id)
	}
	c := client(t, restored)
	testRestoredKeys(t, c, revision)

	b, _ := bucket(t)
	m := mustSave(t, b, FromEtcd(config(restored), id), job(Encoding{}))
	if content, err := VerifyRestore(t.Context(), b, m, nil, t.TempDir(), nil); err != nil || content.Keys != 49 || content.Revision < revision+task.RevisionBump {
		t.Errorf("a backup of what was restored: %+v, %v", content, err)
	}
}

func testRestoredKeys(t *testing.T, c *clientv3.Client, revision int64) {
	t.Helper()
	all, err := c.Get(t.Context(), "key-", clientv3.WithPrefix())
	if err != nil || all.Count != 49 || all.Header.Revision < revision+task.RevisionBump {
		t.Fatalf("got %d keys at %d, %v", all.Count, all.Header.Revision, err)
	}
	for _, kv := range all.Kvs {
		if string(kv.Key) == "key-0001" || string(kv.Key) == "key-0000" && string(kv.Value) != "overwritten" {
			t.Errorf("%s is %s", kv.Key, kv.Value)
		}
	}
	// Who watches from an old revision is told to start anew.
	answer := <-c.Watch(t.Context(), "key-", clientv3.WithPrefix(), clientv3.WithRev(revision))
	if err := answer.Err(); !errors.Is(err, rpctypes.ErrCompacted) {
		t.Errorf("the watch got %v, %v", answer.Events, err)
	}
}

// TestInspectCorrupt has databases whose bytes are what etcd sent, and which were damaged before that.
func TestInspectCorrupt(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	fill(t, client(t, cluster), 200)
	_, _, file := backUp(t, cluster)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The first two pages say where the others are. Each of the others is damaged at its start, and where it says what is in
	// it; some hold nothing.
	found := 0
	for at := 2 * 4096; at+4096 < len(whole); at += 4096 {
		for _, place := range []int{at, at + 16, at + 24} {
			broken := bytes.Clone(whole)
			for i := range 8 {
				broken[place+i] = 0xff
			}
			if err := os.WriteFile(file, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Inspect(file, 0); err != nil {
				if reason(err) != v1beta2.ReasonSnapshotDamaged {
					t.Errorf("byte %d: got %v", place, err)
				}
				found++
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d of many kinds of damage were found", found)
	}
}

// TestRestoreRefusals leaves the volume as it was.
func TestRestoreRefusals(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	fill(t, client(t, cluster), 2)
	_, _, file := backUp(t, cluster)
	junk := filepath.Join(t.TempDir(), "junk.db")
	if err := os.WriteFile(junk, sealed([]byte(strings.Repeat("not a database. ", 1024))), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(other, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for title, c := range map[string]struct{ file, version, want string }{
		"an older etcd":          {file, "3.6.16", v1beta2.ReasonSnapshotVersion},
		"no database":            {junk, "3.7.3", v1beta2.ReasonSnapshotDamaged},
		"a database of another":  {other, "3.7.3", v1beta2.ReasonSnapshotDamaged},
		"nothing":                {filepath.Join(t.TempDir(), "nothing"), "3.7.3", v1beta2.ReasonSnapshotDamaged},
		"a version that is none": {file, "latest", v1beta2.ReasonSnapshotFailed},
	} {
		volume := t.TempDir()
		_, _, err := Restore(c.file, filepath.Join(volume, "data"), c.version, who, 0)
		if reason(err) != c.want {
			t.Errorf("%s: got %v", title, err)
		}
		if left := files(t, volume); len(left) > 0 {
			t.Errorf("%s: left %v", title, left)
		}
	}
}

// TestVerifyRestoreCompares has manifests that say something else than the database does.
func TestVerifyRestoreCompares(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	c := client(t, cluster)
	revision := fill(t, c, 10)
	b, m, _ := backUp(t, cluster)
	verify := func(change func(*Manifest)) (Content, error) {
		changed := m
		change(&changed)
		return VerifyRestore(t.Context(), b, changed, nil, t.TempDir(), nil)
	}
	for title, change := range map[string]func(*Manifest){
		"more keys":        func(m *Manifest) { m.Keys++ },
		"fewer keys":       func(m *Manifest) { m.Keys-- },
		"a later revision": func(m *Manifest) { m.Revision++ },
		"another snapshot": func(m *Manifest) { m.SHA256 = strings.Repeat("0", 64) },
		"another object":   func(m *Manifest) { m.StoredSHA256 = strings.Repeat("0", 64) },
	} {
		if _, err := verify(change); reason(err) != v1beta2.ReasonSnapshotDamaged {
			t.Errorf("%s: got %v", title, err)
		}
	}
	// What was written after the revision was asked for is in the snapshot, too, and does not count.
	if content, err := verify(func(m *Manifest) { m.Revision, m.Keys = revision-1, 10 }); err != nil || content.KeysAt != 10 || content.Keys != 9 {
		t.Errorf("got %+v, %v", content, err)
	}
	// What a compaction has taken cannot be counted any more.
	if _, err := c.Compact(t.Context(), revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	b, m, _ = backUp(t, cluster)
	if content, err := verify(func(m *Manifest) { m.Revision, m.Keys = revision-1, 77 }); err != nil || content.KeysAt != -1 {
		t.Errorf("got %+v, %v", content, err)
	}
	scratch := t.TempDir()
	if _, err := VerifyRestore(t.Context(), b, m, nil, scratch, nil); err != nil || len(files(t, scratch)) > 0 {
		t.Errorf("%v, left %v", err, files(t, scratch))
	}
}

// TestNoKeys verifies and restores databases without a key: one of a cluster that no one has written to, and one whose last
// keys were deleted and compacted.
func TestNoKeys(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	c := client(t, cluster)
	for _, title := range []string{"never written to", "compacted"} {
		if title == "compacted" {
			if _, err := c.Put(t.Context(), "key", "value"); err != nil {
				t.Fatal(err)
			}
			gone, err := c.Delete(t.Context(), "key")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Compact(t.Context(), gone.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
				t.Fatal(err)
			}
		}
		b, m, _ := backUp(t, cluster)
		if content, err := VerifyRestore(t.Context(), b, m, nil, t.TempDir(), nil); err != nil || content.Current != m.Revision {
			t.Errorf("%s: %+v of %+v, %v", title, content, m, err)
		}
		file := filepath.Join(t.TempDir(), "snapshot.db")
		if _, err := FetchFile(t.Context(), b, m.Object, &m, nil, file, nil); err != nil {
			t.Fatal(err)
		}
		_, content, err := Restore(file, filepath.Join(t.TempDir(), "data"), m.EtcdVersion, trial, 0)
		if err != nil || content.Revision != m.Revision+task.RevisionBump {
			t.Errorf("%s: %+v, %v", title, content, err)
		}
	}
}
