package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// verify is a task.
func verify(change func(*task.Verify)) task.Task {
	v := &task.Verify{EtcdVersion: library}
	change(v)
	return task.Task{Writer: task.Writer{Kind: "EtcdRestore", Namespace: "ns", Name: "back", UID: "restore-uid"}, Verify: v}
}

func latest(*task.Verify) {}

func named(name string) func(*task.Verify) { return func(v *task.Verify) { v.Object = name } }

// restore is a task for what was verified.
func restore(s *v1beta2.SnapshotStatus, folder string) task.Task {
	return task.Task{Restore: &task.Restore{Object: s.Name, SHA256: s.SHA256, Folder: folder, EtcdVersion: library, Identity: who}}
}

// kinds are the ways that a backup can be written.
var kinds = map[string]func(*task.Backup){
	"plain":                plain,
	"checked by a restore": func(b *task.Backup) { b.Verify = v1beta2.VerifyRestore },
	"unchecked":            func(b *task.Backup) { b.Verify = v1beta2.VerifyNone },
	"once, by its old key": func(b *task.Backup) { b.LegacyKey = "old" },
	"by its old key":       func(b *task.Backup) { b.LegacyKey, b.Periodic, b.Compress = "periodic", true, false },
}

// roundTrip takes a real etcd into the storage and back, in each of these ways.
func roundTrip(t *testing.T, p *pod, kinds map[string]func(*task.Backup)) {
	t.Helper()
	s := start(t)
	for title, change := range kinds {
		revision, saving := s.put(t, 50), s.backup(change)
		saved := p.must(saving).Snapshot
		checked := saved.VerificationTime != nil
		if saved.Revision != revision || saved.EtcdVersion != library || checked != (saving.Backup.Verify != v1beta2.VerifyNone) {
			t.Fatalf("%s: saved %+v", title, saved)
		}
		found := p.must(verify(named(saved.Name))).Snapshot
		if found.SHA256 != saved.SHA256 || found.URL != saved.URL || found.Revision != revision || found.VerificationTime == nil {
			t.Fatalf("%s: found %+v, saved %+v", title, found, saved)
		}
		volume := t.TempDir()
		data := filepath.Join(volume, "data")
		if got := p.must(restore(found, data)).Snapshot; got.Name != saved.Name || got.Revision != revision {
			t.Fatalf("%s: restored %+v", title, got)
		}
		if left := names(t, volume); !slices.Equal(left, []string{"data"}) {
			t.Errorf("%s: left %v", title, left)
		}
		again := start(t, func(c *embed.Config) { c.Dir = data })
		all, err := again.Get(t.Context(), "key-", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil || all.Count != 50 || all.Header.Revision < revision+task.RevisionBump {
			t.Fatalf("%s: %d keys, %v", title, all.Count, err)
		}
	}
	if left := names(t, p.dirs.Scratch); len(left) > 0 {
		t.Errorf("the scratch folder holds %v", left)
	}
}

func TestRoundTrip(t *testing.T) { roundTrip(t, newPod(t), kinds) }

func TestRoundTripEncrypted(t *testing.T) {
	p := newPod(t)
	p.encrypt()
	roundTrip(t, p, map[string]func(*task.Backup){"encrypted": func(b *task.Backup) { b.Verify = v1beta2.VerifyRestore }})
	other := newPod(t)
	other.dirs.Store = p.dirs.Store
	other.fails(verify(latest), v1beta2.ReasonEncryptionKeyRefused, true)
	other.secret(other.dirs.Key, map[string][]byte{task.KeyPassphrase: []byte("not the one that was used")})
	other.encrypted = true
	other.fails(verify(latest), v1beta2.ReasonEncryptionKeyRefused, true)
}

// TestChoice looks for the latest that fits.
func TestChoice(t *testing.T) {
	p := newPod(t)
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	other := nightly
	other.UID = "00000000-2fa1-11d2-883f-0016d3cca427"
	other.Name = "hourly"
	anew := nightly
	anew.UID = "11111111-2fa1-11d2-883f-0016d3cca427"
	first, second, third := p.save(nightly, noon, 7), p.save(nightly, noon.Add(time.Hour), 8), p.written(other,
		task.Cluster{Namespace: "ns", Name: "nightly", ID: "c0ffee"}, noon.Add(2*time.Hour), 9, false)
	for title, c := range map[string]struct {
		choice task.Choice
		want   string
	}{
		"the latest":         {task.Choice{}, third.Object},
		"of a writer":        {task.Choice{Writer: nightly}, second.Object},
		"of one made anew":   {task.Choice{Writer: anew}, second.Object},
		"before":             {task.Choice{Before: noon.Add(time.Hour)}, first.Object},
		"after all":          {task.Choice{Before: noon.Add(90 * time.Minute)}, second.Object},
		"named":              {task.Choice{Object: first.Object}, first.Object},
		"of the cluster":     {task.Choice{ClusterID: "0000C0FFEE"}, third.Object},
		"too early":          {task.Choice{Before: noon}, ""},
		"of nobody":          {task.Choice{Writer: task.Writer{Kind: "EtcdBackup", Namespace: "ns", Name: "x", UID: "x"}}, ""},
		"of another cluster": {task.Choice{ClusterID: "beef"}, ""},
		"no such name":       {task.Choice{Object: "nothing"}, ""},
	} {
		task := verify(func(v *task.Verify) { v.Choice = c.choice })
		if c.want == "" {
			p.fails(task, v1beta2.ReasonNoSuchObject, true)
		} else if got := p.must(task).Snapshot; got.Name != c.want || got.Cluster != "ns/nightly" {
			t.Errorf("%s: got %s of %s, want %s", title, got.Name, got.Cluster, c.want)
		}
	}
	p.storage.URL = "file:///typo"
	p.fails(verify(latest), v1beta2.ReasonNoSuchBucket, true)
	if left := names(t, p.dirs.Store); !slices.Equal(left, []string{"backups"}) {
		t.Errorf("looking has made %v", left)
	}
}

// TestDamagedLatest is not replaced by an older one silently: the message names that.
func TestDamagedLatest(t *testing.T) {
	p := newPod(t)
	now := time.Now()
	good, worse, latestOne := p.save(nightly, now, 7), p.save(nightly, now.Add(time.Hour), 8), p.save(nightly, now.Add(2*time.Hour), 9)
	flip(t, p.object(worse.Object))
	flip(t, p.object(latestOne.Object))
	message := p.fails(verify(latest), v1beta2.ReasonSnapshotDamaged, true)
	if !strings.Contains(message, latestOne.Object) || !strings.Contains(message, "set spec.snapshot to "+good.Object) {
		t.Errorf("got %q", message)
	}
	p.must(verify(named(good.Object)))
	// So it is with what a look at the manifest tells.
	for _, m := range []snapshot.Manifest{worse, latestOne} {
		if err := os.Truncate(p.object(m.Object), 512); err != nil {
			t.Fatal(err)
		}
	}
	message = p.fails(verify(latest), v1beta2.ReasonSnapshotDamaged, true)
	if !strings.Contains(message, "set spec.snapshot to "+good.Object) || !strings.Contains(message, "512 bytes") {
		t.Errorf("got %q", message)
	}
	p.must(verify(named(good.Object)))
}

// TestVersions refuses data that the etcd cannot start from, before anything else is done.
func TestVersions(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	name := p.must(s.backup(plain)).Snapshot.Name
	for _, trial := range []bool{false, true} {
		p.fails(verify(func(v *task.Verify) { v.Object, v.Trial, v.EtcdVersion = name, trial, "3.6.16" }), v1beta2.ReasonSnapshotVersion, true)
	}
	told := p.save(nightly, time.Now(), 9).Object // its manifest says which data it is
	p.fails(verify(func(v *task.Verify) { v.Object, v.EtcdVersion = told, "3.6.16" }), v1beta2.ReasonSnapshotVersion, true)
	for _, object := range []string{name, told} {
		trial := object == name // the other one is no database
		how := p.must(verify(func(v *task.Verify) { v.Object, v.Trial = object, trial }))
		if how.DataVersion != "3.7" || trial != (how.Snapshot.Verification == v1beta2.VerifyRestore) {
			t.Errorf("it was verified by %s, as data of %q", how.Snapshot.Verification, how.DataVersion)
		}
	}
}

// TestForeign restores an object that someone has put there without a manifest, as etcdctl writes it.
func TestForeign(t *testing.T) {
	p, s := newPod(t), start(t)
	revision := s.put(t, 20)
	saved := p.must(s.backup(func(b *task.Backup) { b.Compress = false })).Snapshot
	const name = "by-hand.db"
	if err := os.Rename(p.object(saved.Name), p.object(name)); err != nil {
		t.Fatal(err)
	}
	p.fails(verify(func(v *task.Verify) { v.Object, v.EtcdVersion = name, "3.5.32" }), v1beta2.ReasonSnapshotVersion, true)
	result := p.must(verify(named(name)))
	found := result.Snapshot
	if result.DataVersion != "3.7" || found.Cluster != "" || found.Revision != revision || found.EtcdVersion != "3.7" || found.SHA256 != saved.SHA256 || found.CreationTime.IsZero() ||
		found.Verification != v1beta2.VerifyRestore || found.StoredSizeBytes != saved.StoredSizeBytes {
		t.Errorf("found %+v", found)
	}
	volume := t.TempDir()
	restored := p.must(restore(found, filepath.Join(volume, "data"))).Snapshot
	if restored.Revision != revision || restored.EtcdVersion != "3.7" {
		t.Errorf("restored %+v", restored)
	}
	flip(t, p.object(name))
	p.fails(verify(named(name)), v1beta2.ReasonSnapshotDamaged, true)
	p.fails(restore(found, filepath.Join(volume, "other")), v1beta2.ReasonSnapshotDamaged, true)
	if left := names(t, volume); !slices.Equal(left, []string{"data"}) {
		t.Errorf("left %v", left)
	}
}

// TestRestoreTwice does it once, also if it is interrupted, and also if nothing that it needs is there any more.
func TestRestoreTwice(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 20)
	saved := p.must(s.backup(plain)).Snapshot
	volume := t.TempDir()
	data := filepath.Join(volume, "data")
	leave := func() {
		if err := os.MkdirAll(filepath.Join(data+snapshot.Restoring, "member"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fetched(data), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	p.must(restore(saved, data))
	database := filepath.Join(data, "member", "snap", "db")
	before, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	p.storage.CredentialsSecretRef.Name, p.encrypted = "gone", true
	if result := p.must(restore(saved, data)); result.Snapshot != nil {
		t.Errorf("restored again: %+v", result.Snapshot)
	}
	after, err := os.ReadFile(database)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database has changed, %v", err)
	}
	if left := names(t, volume); !slices.Equal(left, []string{"data"}) {
		t.Errorf("left %v", left)
	}
}

// TestRestoreRefusals leave the volume as it was.
func TestRestoreRefusals(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	saved := p.must(s.backup(plain)).Snapshot
	volume := t.TempDir()
	if err := os.MkdirAll(filepath.Join(volume, "photos", "2026"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.fails(restore(saved, filepath.Join(volume, "photos")), v1beta2.ReasonScratchFailed, true)
	changed := *saved
	changed.SHA256 = strings.Repeat("0", 64)
	p.fails(restore(&changed, filepath.Join(volume, "data")), v1beta2.ReasonSnapshotDamaged, true)
	gone := *saved
	gone.Name = "gone"
	p.fails(restore(&gone, filepath.Join(volume, "data")), v1beta2.ReasonNoSuchObject, true)
	if left := names(t, volume); !slices.Equal(left, []string{"photos"}) {
		t.Errorf("left %v", left)
	}
}
