package agent

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestPrune keeps what the policy says and what others have written.
func TestPrune(t *testing.T) {
	p, s := newPod(t), start(t)
	other := nightly
	other.Name, other.UID = "hourly", "00000000-2fa1-11d2-883f-0016d3cca427"
	p.must(task.Task{Writer: other, Backup: s.backup(plain).Backup})
	var taken []string
	for i := range 3 {
		s.put(t, 1)
		result := p.must(s.backup(func(b *task.Backup) { b.Policy = task.Policy{Last: 2} }))
		taken = append(taken, result.Snapshot.Name)
		if want := int32(min(i+1, 2)); result.Total != want {
			t.Errorf("backup %d: %d in all, want %d", i, result.Total, want)
		}
		if i == 2 && !slices.Equal(result.Deleted, taken[:1]) {
			t.Errorf("deleted %v of %v", result.Deleted, taken)
		}
	}
	if stored := p.stored(); len(stored) != 6 || slices.Contains(stored, taken[0]) {
		t.Errorf("left %v", stored)
	}
	s.put(t, 1)
	result := p.run(s.backup(func(b *task.Backup) { b.Policy, b.Doubt = task.Policy{Last: 1}, "the data of member m-1 differs" }))
	if result.Failure != nil || len(result.Deleted) > 0 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "member m-1 differs") {
		t.Errorf("of data that may be wrong: %+v", result)
	}
	flip(t, p.object(taken[1])+".manifest.json")
	s.put(t, 1)
	result = p.run(s.backup(plain))
	if result.Failure != nil || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], taken[1]) || result.Total != 3 {
		t.Errorf("beside a damaged one: %+v", result)
	}
}

// TestClean deletes what one writer has written, and what it has begun.
func TestClean(t *testing.T) {
	p := newPod(t)
	other := nightly
	other.UID = "00000000-2fa1-11d2-883f-0016d3cca427"
	theirs := p.save(other, time.Now(), 1)
	ours := p.save(nightly, time.Now(), 2)
	begun := snapshot.Name(3, time.Now(), uid, snapshot.Encoding{})
	if err := os.WriteFile(p.object(begun), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.encrypted = true // by a Secret that is gone
	if result := p.must(task.Task{Clean: &task.Clean{}}); !slices.Equal(result.Deleted, []string{ours.Object, begun}) {
		t.Errorf("deleted %v", result.Deleted)
	}
	if stored := p.stored(); !slices.Equal(stored, []string{theirs.Object, theirs.Object + ".manifest.json"}) {
		t.Errorf("left %v", stored)
	}
	if result := p.must(task.Task{Clean: &task.Clean{}}); len(result.Deleted) > 0 {
		t.Errorf("deleted again: %v", result.Deleted)
	}
}

// TestSwept has pods of this and another EtcdBackup killed while they wrote to the volume.
func TestSwept(t *testing.T) {
	p, s := newPod(t), start(t)
	other := nightly
	other.UID = "00000000-2fa1-11d2-883f-0016d3cca427"
	age := func(files []string, by time.Duration) {
		t.Helper()
		for _, name := range files {
			if err := os.Chtimes(p.object(name), time.Time{}, time.Now().Add(-by)); err != nil {
				t.Fatal(err)
			}
		}
	}
	old, theirs := p.killed(nightly), p.killed(other)
	age(slices.Concat(old, theirs), 25*time.Hour)
	young := p.killed(nightly)
	age(young, 23*time.Hour)
	foreign := []string{"notes.abc.tmp", "x" + old[0], old[0] + ".bak"}
	for _, name := range foreign {
		if err := os.WriteFile(p.object(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	age(foreign, 25*time.Hour)
	folder := strings.TrimSuffix(old[0], ".tmp") + "0.tmp"
	if err := os.Mkdir(p.object(folder), 0o700); err != nil {
		t.Fatal(err)
	}
	age([]string{folder}, 25*time.Hour)
	saved := p.must(s.backup(plain)).Snapshot.Name
	want := slices.Concat(theirs, young, foreign, []string{folder, saved, saved + ".manifest.json"})
	slices.Sort(want)
	if stored := p.stored(); !slices.Equal(stored, want) {
		t.Errorf("left %q, want %q", stored, want)
	}
	p.must(task.Task{Clean: &task.Clean{}})
	want = slices.Concat(theirs, foreign, []string{folder})
	slices.Sort(want)
	if stored := p.stored(); !slices.Equal(stored, want) {
		t.Errorf("after all was deleted: %q, want %q", stored, want)
	}
}

// killed leaves what a process leaves that is killed while it writes an object, and while it writes a manifest.
func (p *pod) killed(w task.Writer) []string {
	p.Helper()
	before := p.stored()
	b, err := blobstore.Open(p.Context(), blobstore.Target{URL: p.storage.URL, Root: p.dirs.Store}, nil)
	if err != nil {
		p.Fatal(err)
	}
	name := snapshot.Name(7, time.Now(), w.UID, snapshot.Encoding{Compress: true})
	for _, object := range []string{name, name + ".manifest.json"} {
		o, err := b.Create(p.Context(), object)
		if err != nil {
			p.Fatal(err)
		}
		if _, err := o.Write([]byte("half")); err != nil {
			p.Fatal(err)
		}
	}
	left := slices.DeleteFunc(p.stored(), func(name string) bool { return slices.Contains(before, name) })
	if len(left) != 2 {
		p.Fatalf("left %v", left)
	}
	return left
}

// TestLegacyNames are those of coreos/etcd-operator.
func TestLegacyNames(t *testing.T) {
	p, s := newPod(t), start(t)
	revision := s.put(t, 1)
	once := s.backup(func(b *task.Backup) { b.LegacyKey = "once" })
	if name := p.must(once).Snapshot.Name; name != "once" {
		t.Errorf("its name is %s", name)
	}
	p.must(once) // as often as someone wants it
	again := p.task(once)
	again.Writer.UID = "00000000-2fa1-11d2-883f-0016d3cca427"
	if result := Run(t.Context(), again, p.dirs, &Tracker{}); result.Failure != nil {
		t.Errorf("created anew: %+v", result.Failure)
	}
	theirs := p.task(once)
	theirs.Writer.Name = "other"
	if f := Run(t.Context(), theirs, p.dirs, &Tracker{}).Failure; f == nil || f.Reason != v1beta2.ReasonStorageMisconfigured || !f.Terminal {
		t.Errorf("another EtcdBackup: %+v", f)
	}
	theirs.Writer.Namespace = "tenant"
	if f := Run(t.Context(), theirs, p.dirs, &Tracker{}).Failure; f == nil || strings.Contains(f.Message, "ns/") ||
		!strings.Contains(f.Message, "another namespace") {
		t.Errorf("another namespace's: %+v", f)
	}
	result := p.must(s.backup(func(b *task.Backup) { b.LegacyKey, b.Periodic = "etcd", true }))
	if at := result.Snapshot.CreationTime.Time; result.Snapshot.Name != snapshot.LegacyName("etcd", revision, at) || result.Total != 1 {
		t.Errorf("got %+v", result)
	}
}

// TestRefusals says what is wrong before anything is written.
func TestRefusals(t *testing.T) {
	s := start(t)
	whole := s.backup(plain)
	for title, c := range map[string]struct {
		change   func(*pod, *task.Backup)
		reason   string
		terminal bool
	}{
		"leaves the volume": {func(p *pod, _ *task.Backup) { p.storage.URL = "file:///backups/../../etc" }, v1beta2.ReasonStorageMisconfigured, true},
		"encoded":           {func(p *pod, _ *task.Backup) { p.storage.URL = "file:///%2e%2e/etc" }, v1beta2.ReasonStorageMisconfigured, true},
		"no folder":         {func(p *pod, _ *task.Backup) { p.storage.URL = "file:///" }, v1beta2.ReasonStorageMisconfigured, true},
		"no Secret":         {func(p *pod, _ *task.Backup) { p.storage.URL, p.storage.CredentialsSecretRef.Name = "s3://b", "s3" }, v1beta2.ReasonStorageMisconfigured, false},
		"no CA":             {func(p *pod, _ *task.Backup) { p.storage.URL, p.storage.CABundleRef.Name = "s3://b", "ca" }, v1beta2.ReasonStorageMisconfigured, false},
		"no passphrase":     {func(p *pod, _ *task.Backup) { p.encrypted = true }, v1beta2.ReasonEncryptionKeyRefused, false},
		"no certificate":    {func(_ *pod, b *task.Backup) { b.TLS = true }, v1beta2.ReasonEtcdUnreachable, false},
		"half a certificate": {func(p *pod, b *task.Backup) {
			p.secret(p.dirs.TLS, map[string][]byte{task.KeyClientKey: []byte("x")})
			b.TLS = true
		}, v1beta2.ReasonEtcdUnreachable, true},
		"another cluster": {func(_ *pod, b *task.Backup) { b.Cluster.ID = "c0ffee" }, v1beta2.ReasonEtcdForeign, true},
		"nobody there":    {func(_ *pod, b *task.Backup) { b.Endpoints = []string{"http://127.0.0.1:1"} }, v1beta2.ReasonEtcdUnreachable, false},
	} {
		t.Run(title, func(t *testing.T) {
			p, b := newPod(t), *whole.Backup
			c.change(p, &b)
			if message := p.fails(task.Task{Backup: &b}, c.reason, c.terminal); message == "" {
				t.Error("it says nothing")
			}
			if stored := p.stored(); len(stored) > 0 {
				t.Errorf("left %v", stored)
			}
		})
	}
}

// TestEnded ends tasks in the middle. Nothing is left of them, and they say why.
func TestEnded(t *testing.T) {
	s := start(t)
	s.put(t, 2000)
	for title, c := range map[string]struct {
		timeout      time.Duration
		reason, word string
	}{
		"the pod is told to end": {time.Minute, v1beta2.ReasonSnapshotFailed, "the pod was terminated"},
		"its time is up":         {2 * time.Second, v1beta2.ReasonTimeout, "timeoutSeconds"},
	} {
		t.Run(title, func(t *testing.T) {
			p := newPod(t)
			address, reached := stall(t, s.endpoints[0], 100<<10)
			saving := p.task(s.backup(func(b *task.Backup) { b.Endpoints, b.Compress = []string{address}, false }))
			saving.Timeout = c.timeout
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.timeout == time.Minute {
				go func() {
					<-reached
					cancel()
				}()
			}
			f := Run(ctx, saving, p.dirs, &Tracker{}).Failure
			if f == nil || f.Reason != c.reason || f.Terminal || !strings.Contains(f.Message, c.word) {
				t.Errorf("got %+v", f)
			}
			if stored := p.stored(); len(stored) > 0 {
				t.Errorf("left %v", stored)
			}
		})
	}
}

// TestSpoolRoom has the kubelet's limit bound what the task allows.
func TestSpoolRoom(t *testing.T) {
	for room, want := range map[string]int64{"": 1000, "nonsense": 1000, "1000000": 1000, "1000": 500, "0": 0} {
		t.Setenv(task.EnvRoom, room)
		r := &runner{Task: task.Task{Backup: &task.Backup{Spool: 1000}}, dirs: Dirs{Scratch: "/scratch"}}
		s := r.spool()
		if s.Limit != want || s.Folder != "/scratch" {
			t.Errorf("with room for %q: got %+v, want %d", room, s, want)
		}
		if s.Failed(errors.New("the disk is gone")); len(r.result.Warnings) != 1 {
			t.Errorf("warned %v", r.result.Warnings)
		}
	}
}
