package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestListTellsApart fills a folder with all that may be in one.
func TestListTellsApart(t *testing.T) {
	b, path := bucket(t)
	good := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{}))
	manifest, err := os.ReadFile(filepath.Join(path, manifestName(good.Object)))
	if err != nil {
		t.Fatal(err)
	}
	object, err := os.ReadFile(filepath.Join(path, good.Object))
	if err != nil {
		t.Fatal(err)
	}
	renamed := func(to string) []byte { return bytes.ReplaceAll(manifest, []byte(good.Object), []byte(to)) }
	for name, data := range map[string][]byte{
		"README":                          []byte("hello"),
		"settings.json":                   []byte("{}"),
		"theirs" + extensionManifest:      []byte(`{"format":"another","sha256":"x","manifest":{}}`),
		"also-theirs" + extensionManifest: []byte(`{}`),
		"half" + extensionManifest:        manifest[:len(manifest)/2],
		"empty" + extensionManifest:       nil,
		"huge" + extensionManifest:        bytes.Repeat([]byte(" "), manifestLimit+1),
		"flipped" + extensionManifest:     bytes.Replace(manifest, []byte(`"revision": 42`), []byte(`"revision": 43`), 1),
		"later" + extensionManifest:       bytes.Replace(manifest, []byte(format), []byte("etcd-operator/snapshot/v2"), 1),
		"copy" + extensionManifest:        manifest, // of an object with another name
		"copy":                            object,
		"edited" + extensionManifest:      renamed("edited"),
		"v3_v7_2026-01-02-03:04:05":       object, // the old operator's
		"00000000000000000007_20260102T030405Z_1b4e28ba.db.zst":                object,
		"00000000000000000008_20260102T030405Z_1b4e28ba.db.1a2b.tmp":           object, // of a folder
		"00000000000000000009_20260102T030405Z_00000000.db":                    object,
		"00000000000000000010_20260102T030405Z_00000000.db" + ".something.zst": object,
	} {
		if err := os.WriteFile(filepath.Join(path, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := list(t, b)
	if len(l.Snapshots) != 1 || l.Snapshots[0] != good {
		t.Errorf("snapshots: %+v", l.Snapshots)
	}
	var damaged []string
	for _, d := range l.Damaged {
		damaged = append(damaged, strings.TrimSuffix(d.Manifest, extensionManifest))
		if d.Problem.Message == "" {
			t.Errorf("%s: no problem", d.Manifest)
		}
	}
	if want := []string{"copy", "edited", "empty", "flipped", "half", "huge", "later"}; !slices.Equal(damaged, want) {
		t.Errorf("damaged: %v", l.Damaged)
	}
	var orphans []string
	for _, s := range l.Orphans {
		orphans = append(orphans, s.Name[:20])
	}
	if want := []string{"00000000000000000007", "00000000000000000009"}; !slices.Equal(orphans, want) {
		t.Errorf("orphans: %v", l.Orphans)
	}
	if _, _, err := Find(t.Context(), b, "flipped"); reason(err) != v1beta2.ReasonSnapshotDamaged {
		t.Errorf("found %v", err)
	}
	if m, found, err := Find(t.Context(), b, good.Object); !found || m != good || err != nil {
		t.Errorf("found %+v, %v, %v", m, found, err)
	}
}

// TestListSizes tells objects that are not what was written, as far as their sizes do.
func TestListSizes(t *testing.T) {
	b, path := bucket(t)
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 1024)))), job(Encoding{}))
	object := filepath.Join(path, m.Object)
	if err := os.Truncate(object, 512); err != nil {
		t.Fatal(err)
	}
	if l := list(t, b); len(l.Snapshots) != 0 || len(l.Damaged) != 1 || !strings.Contains(l.Damaged[0].Problem.Message, "512 bytes") {
		t.Errorf("cut off: %+v", l)
	}
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if l := list(t, b); len(l.Snapshots) != 0 || len(l.Damaged) != 1 || !strings.Contains(l.Damaged[0].Problem.Message, "missing") {
		t.Errorf("gone: %+v", l)
	}
}

// TestListMany lists as many as an hourly backup makes in a year and more, whose revisions have different numbers of
// digits.
func TestListMany(t *testing.T) {
	const many = 10_000
	b, path := bucket(t)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range many {
		m := Manifest{Object: LegacyName("key", int64(i), begin), Cluster: task.Cluster{ID: "c0ffee"}, TakenAt: begin.Add(time.Duration(i) * time.Hour), Revision: int64(i), StoredSize: 1}
		data, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{m.Object: {0}, manifestName(m.Object): data} {
			if err := os.WriteFile(filepath.Join(path, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := list(t, b)
	if len(l.Snapshots) != many || len(l.Damaged)+len(l.Orphans) > 0 {
		t.Fatalf("listed %d, %d damaged, %d orphans", len(l.Snapshots), len(l.Damaged), len(l.Orphans))
	}
	for i, m := range l.Snapshots {
		if m.Revision != int64(many-1-i) {
			t.Fatalf("number %d has revision %d", i, m.Revision)
		}
	}
}

// TestListImpossible wants a manifest that says what cannot be to be damaged, whoever has made it so, and nothing of it told.
func TestListImpossible(t *testing.T) {
	b, path := bucket(t)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	late := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -23*60*60))
	manifests := []Manifest{
		{Object: "late", TakenAt: late},
		{Object: "negative", Revision: -1},
		{Object: "high", Revision: math.MaxInt64},
		{Object: "small", Size: -1},
		{Object: "fine", Revision: revisionLimit},
	}
	for _, m := range manifests {
		m.Cluster.ID = "c0ffee"
		data, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{m.Object: nil, manifestName(m.Object): data} {
			if err := os.WriteFile(filepath.Join(path, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := list(t, b)
	if len(l.Snapshots) != 1 || l.Snapshots[0].Object != "fine" || len(l.Damaged) != len(manifests)-1 {
		t.Fatalf("got %+v", l)
	}
	for _, d := range l.Damaged {
		if d.Says != (Manifest{}) || !d.Problem.Terminal {
			t.Errorf("got %+v", d)
		}
	}
}

// TestDeleteOrder interrupts a deletion between its two steps. What is left must not look like a backup.
func TestDeleteOrder(t *testing.T) {
	b, path := bucket(t)
	m := mustSave(t, b, stream(bytes.NewReader(sealed(make([]byte, 512)))), job(Encoding{}))
	object := filepath.Join(path, m.Object)
	// A folder that is not empty cannot be deleted as if it were a file.
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(object, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	_ = Delete(t.Context(), b, m)
	if l := list(t, b); len(l.Snapshots)+len(l.Damaged) > 0 {
		t.Errorf("left %+v", l)
	}
	if err := os.RemoveAll(object); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is left to delete
		if err := Delete(t.Context(), b, m); err != nil {
			t.Error(err)
		}
	}
	if left := files(t, path); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestManifestFields keeps the names in the JSON: manifests outlive the operator's versions.
func TestManifestFields(t *testing.T) {
	m := Manifest{}
	data, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{`"revision": 0`, `"revision": 1`}, {`"keys"`, `"keyz"`}, {`"sha256"`, `"sha265"`}} {
		if _, err := decodeManifest(bytes.Replace(data, []byte(change[0]), []byte(change[1]), 1)); err == nil {
			t.Errorf("%s instead of %s was not noticed", change[1], change[0])
		}
	}
	var e struct{ Manifest map[string]any }
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range e.Manifest {
		names = append(names, name)
	}
	slices.Sort(names)
	want := strings.Fields("cluster compression encryption etcdVersion keys member object revision sha256 size storedSHA256 storedSize takenAt writer")
	if !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
	if got, err := decodeManifest(data); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestNames(t *testing.T) {
	at := time.Date(2026, 1, 2, 4, 4, 5, 6, time.FixedZone("CET", 3600))
	e := Encoding{Compress: true, Key: key(t, "correct horse battery staple")}
	if got := Name(12345, at, uid, e); got != "00000000000000012345_20260102T030405Z_1b4e28ba.db.zst.age" || !name.MatchString(got) {
		t.Errorf("got %s", got)
	}
	if got := Name(1<<62, at, "x", Encoding{}); got != fmt.Sprintf("0%d_20260102T030405Z_x.db", int64(1<<62)) || !name.MatchString(got) {
		t.Errorf("got %s", got)
	}
	if got := LegacyName("key", 7, at); got != "key_v7_2026-01-02-03:04:05" || name.MatchString(got) {
		t.Errorf("got %s", got)
	}
}
