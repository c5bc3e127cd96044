package snapshot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// TestListUnreadable has the storage give out all manifests but one. The others are listed; if it gives out none, that is no
// matter of one.
func TestListUnreadable(t *testing.T) {
	b, path := bucket(t)
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{}))
	bad := Name(43, noon, uid, Encoding{})
	for _, name := range []string{bad, manifestName(bad)} {
		if err := os.Symlink(name, filepath.Join(path, name)); err != nil { // a loop: it is there, and cannot be opened
			t.Fatal(err)
		}
	}
	l := list(t, b)
	if len(l.Snapshots) != 1 || len(l.Damaged) != 1 || l.Damaged[0].Manifest != manifestName(bad) ||
		l.Damaged[0].Problem.Reason != v1beta2.ReasonStorageFailed || l.Damaged[0].Problem.Terminal || l.Damaged[0].Problem.Message == "" {
		t.Errorf("listed %+v", l)
	}
	if err := Delete(t.Context(), b, m); err != nil {
		t.Fatal(err)
	}
	if l, err := List(t.Context(), b, ""); reason(err) != v1beta2.ReasonStorageFailed || len(l.Damaged) > 0 {
		t.Errorf("listed %+v, %v", l, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ended, b, ""); err == nil {
		t.Error("a listing that was ended has listed")
	}
}

// TestOthers tells the writer's own by their names, and reads only what others have written.
func TestOthers(t *testing.T) {
	b, path := bucket(t)
	if others, own, err := others(t, b, "", uid); len(others) > 0 || own || err != nil {
		t.Errorf("of nothing: %v, %t, %v", others, own, err)
	}
	theirs := job(Encoding{})
	theirs.Writer.UID = "another"
	theirs.Name = func(*Stream) string { return LegacyName("key", 7, noon) }
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), theirs)
	for prefix, want := range map[string]int{"": 1, "key": 1, "x": 0} {
		if others, own, err := others(t, b, prefix, uid); len(others) != want || own || err != nil {
			t.Errorf("%q: %v, %t, %v", prefix, others, own, err)
		}
	}
	if others, own, err := others(t, b, "", m.Writer.UID); len(others) > 0 || !own || err != nil {
		t.Errorf("by an old name: %v, %t, %v", others, own, err)
	}
	own := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{}))
	if err := os.WriteFile(filepath.Join(path, manifestName(own.Object)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if others, own, err := others(t, b, "", uid); len(others) > 0 || !own || err != nil {
		t.Errorf("its own, damaged: %v, %t, %v", others, own, err)
	}
}

func others(t *testing.T, b *blobstore.Bucket, prefix, writerUID string) ([]Manifest, bool, error) {
	t.Helper()
	o, err := Look(t.Context(), b, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return o.Others(t.Context(), writerUID)
}
