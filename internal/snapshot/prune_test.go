package snapshot

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestPrune keeps the latest, what others wrote, and what is being written.
func TestPrune(t *testing.T) {
	b, path := bucket(t)
	whole := sealed(make([]byte, 512))
	var own []Manifest
	for i := range 3 {
		j := job(Encoding{})
		j.Name = func(*Stream) string { return Name(int64(i), noon, uid, Encoding{}) }
		own = append(own, mustSave(t, b, func(ctx context.Context) (*Stream, error) {
			s, err := stream(bytes.NewReader(whole))(ctx)
			s.Revision, s.TakenAt = int64(i), noon.Add(time.Duration(i)*time.Hour)
			return s, err
		}, j))
	}
	theirs := job(Encoding{})
	theirs.Name = func(*Stream) string { return "theirs" }
	theirs.Writer.UID = "another"
	mustSave(t, b, stream(bytes.NewReader(whole)), theirs)
	left, fresh := Name(7, noon, uid, Encoding{}), Name(8, noon, uid, Encoding{})
	for name, changed := range map[string]time.Time{left: noon, fresh: noon.Add(48 * time.Hour)} {
		file := filepath.Join(path, name)
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := Prune(t.Context(), b, list(t, b), task.Policy{Last: 1}, own[2], noon.Add(49*time.Hour))
	if err != nil || !slices.Equal(deleted, own[:2]) {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	want := []string{own[2].Object, manifestName(own[2].Object), fresh, "theirs", manifestName("theirs")}
	if got := files(t, path); !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

// TestPruneRefused goes on with the others where the storage refuses one, and ends where it answers for none.
func TestPruneRefused(t *testing.T) {
	b, path := bucket(t)
	var own []Manifest
	for i := range 4 {
		j := job(Encoding{})
		j.Name = func(*Stream) string { return Name(int64(i), noon, uid, Encoding{}) }
		own = append(own, mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), j))
	}
	for _, m := range own[:2] { // a folder that is not empty cannot be deleted
		manifest := filepath.Join(path, manifestName(m.Object))
		if err := errors.Join(os.Remove(manifest), os.MkdirAll(filepath.Join(manifest, "sub"), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	stray := Name(9, noon, uid, Encoding{})
	if err := os.WriteFile(filepath.Join(path, stray), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if backups, objects, err := DeleteAll(ended, b, own, []string{stray}); len(backups)+len(objects) > 0 || err == nil || strings.Contains(err.Error(), "more") {
		t.Errorf("when its time was up it deleted %v, %v, %v", backups, objects, err)
	}
	backups, objects, err := DeleteAll(t.Context(), b, own, []string{stray})
	if !slices.Equal(backups, own[2:]) || !slices.Equal(objects, []string{stray}) ||
		reason(err) != v1beta2.ReasonStorageFailed || !strings.HasSuffix(err.Error(), "; and 1 more") {
		t.Errorf("deleted %v, %v, %v", backups, objects, err)
	}
}
