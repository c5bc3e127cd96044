package agent

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
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// again is a later try of the same run.
func again(b *task.Backup) { b.Run, b.Again = "1", true }

func both(changes ...func(*task.Backup)) func(*task.Backup) {
	return func(b *task.Backup) {
		for _, change := range changes {
			change(b)
		}
	}
}

func runOne(b *task.Backup) { b.Run = "1" }
func runTwo(b *task.Backup) { b.Run = "2" }

func restored1(b *task.Backup) { b.Verify, b.Policy = v1beta2.VerifyRestore, task.Policy{Last: 1} }

// left wants a task to fail for a reason, and to tell of a snapshot that is in the storage nevertheless.
func (p *pod) left(t task.Task, reason string) *v1beta2.SnapshotStatus {
	p.Helper()
	result := p.run(t)
	if result.Failure == nil || result.Failure.Reason != reason || result.Snapshot == nil {
		p.Fatalf("got %+v of %+v, want %s", result.Failure, result.Snapshot, reason)
	}
	if !slices.Contains(p.stored(), result.Snapshot.Name+".manifest.json") {
		p.Fatalf("%s is not in the storage: %q", result.Snapshot.Name, p.stored())
	}
	return result.Snapshot
}

// TestUnchecked has a backup that cannot be checked. It stays, and so do the older ones; the next attempt checks it, and does
// not take another one.
func TestUnchecked(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	before := p.must(s.backup(plain)).Snapshot.Name
	revision := s.put(t, 1)
	scratch := p.dirs.Scratch
	p.dirs.Scratch = filepath.Join(scratch, "nothing")
	kept := p.left(s.backup(both(runOne, restored1)), v1beta2.ReasonBackupUnverified)
	if kept.VerificationTime != nil || kept.Revision != revision || len(p.stored()) != 4 {
		t.Errorf("got %+v of %q", kept, p.stored())
	}
	if same := p.left(s.backup(both(again, restored1)), v1beta2.ReasonBackupUnverified); same.Name != kept.Name || len(p.stored()) != 4 {
		t.Errorf("another try left %s of %q", same.Name, p.stored())
	}
	p.dirs.Scratch = scratch
	retried := s.backup(both(again, restored1))
	retried.Backup.Endpoints = []string{"http://127.0.0.1:1"} // it is not asked for another one
	result := p.must(retried)
	if result.Snapshot.Name != kept.Name || result.Snapshot.VerificationTime == nil || !slices.Equal(result.Deleted, []string{before}) {
		t.Errorf("got %+v, deleted %q", result.Snapshot, result.Deleted)
	}
	s.put(t, 1)
	next := s.backup(func(b *task.Backup) { b.Run, b.Again = "2", true })
	if other := p.must(next).Snapshot; other.Name == kept.Name {
		t.Error("another run goes on with this one's")
	}
}

// TestUncheckedDamage has what an earlier attempt has left turn out to be damaged: it goes, and another one is taken.
func TestUncheckedDamage(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	scratch := p.dirs.Scratch
	p.dirs.Scratch = filepath.Join(scratch, "nothing")
	kept := p.left(s.backup(both(runOne, restored1)), v1beta2.ReasonBackupUnverified)
	flip(t, p.object(kept.Name))
	s.put(t, 1)
	p.dirs.Scratch = scratch
	result := p.run(s.backup(both(again, restored1)))
	if result.Failure != nil || result.Discarded != kept.Name || result.Snapshot.Name == kept.Name || len(result.Warnings) != 1 {
		t.Errorf("got %+v, %+v", result, result.Failure)
	}
	if stored := p.stored(); !slices.Equal(stored, []string{result.Snapshot.Name, result.Snapshot.Name + ".manifest.json"}) {
		t.Errorf("left %q", stored)
	}
}

// TestCheckBrokenOff ends the pod while it checks: nothing that was saved is lost.
func TestCheckBrokenOff(t *testing.T) {
	for title, c := range map[string]struct {
		deadline bool
		word     string
	}{
		"the pod is told to end": {false, "the pod was terminated"},
		"its time is up":         {true, "timeoutSeconds"},
	} {
		t.Run(title, func(t *testing.T) {
			p := newPod(t)
			m := p.save(nightly, time.Now(), 7)
			ctx, cancel := context.WithCancel(t.Context())
			limited, end := context.WithCancel(ctx)
			defer end()
			task := p.task(task.Task{Backup: &task.Backup{Verify: v1beta2.VerifyRestore}})
			r := &runner{Task: task, dirs: p.dirs, at: &Tracker{}}
			if err := r.open(ctx); err != nil {
				t.Fatal(err)
			}
			if c.deadline {
				limited, end = context.WithDeadline(ctx, time.Unix(1, 0))
				defer end()
			} else {
				cancel()
			}
			defer cancel()
			r.conclude(ctx, limited, r.complete(limited, m))
			f := r.result.Failure
			if f == nil || f.Reason != v1beta2.ReasonBackupUnverified || f.Terminal || !strings.Contains(f.Message, c.word) {
				t.Errorf("got %+v", f)
			}
			if stored := p.stored(); len(stored) != 2 || r.result.Snapshot == nil {
				t.Errorf("left %q, told of %+v", stored, r.result.Snapshot)
			}
		})
	}
}

// TestLegacyStays has a one-time backup in coreos/etcd-operator's way be taken again: what was there stays until the new one
// is known to be good.
func TestLegacyStays(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 1)
	key := func(b *task.Backup) { b.LegacyKey = "etcd.backup" }
	p.must(s.backup(both(runOne, key, restored1)))
	before, err := os.ReadFile(p.object("etcd.backup"))
	if err != nil {
		t.Fatal(err)
	}
	revision := s.put(t, 1)
	scratch := p.dirs.Scratch
	p.dirs.Scratch = filepath.Join(scratch, "nothing")
	second := func(b *task.Backup) { key(b); restored1(b); b.Run = "2" }
	kept := p.left(s.backup(second), v1beta2.ReasonBackupUnverified)
	if now, err := os.ReadFile(p.object("etcd.backup")); err != nil || !bytes.Equal(now, before) || !strings.HasPrefix(kept.Name, "etcd.backup.interim_") {
		t.Fatalf("the earlier one is gone: %v; left %q", err, p.stored())
	}
	p.dirs.Scratch = scratch
	result := p.must(s.backup(func(b *task.Backup) { second(b); b.Again = true }))
	if result.Snapshot.Name != "etcd.backup" || result.Snapshot.Revision != revision || result.Total != 1 {
		t.Errorf("got %+v", result)
	}
	if stored := p.stored(); !slices.Equal(stored, []string{"etcd.backup", "etcd.backup.manifest.json"}) {
		t.Errorf("left %q", stored)
	}
	p.must(task.Task{Verify: &task.Verify{Choice: task.Choice{Object: "etcd.backup"}, EtcdVersion: library, Trial: true}})
}

// TestStale backs up what is left of a cluster of three, and one that has less than it had. Nothing older is deleted.
func TestStale(t *testing.T) {
	cluster := embedtest.Start(t, 3)
	s := &server{}
	for _, m := range cluster.Members {
		s.endpoints = append(s.endpoints, "http://"+m.Address)
	}
	s.connect(t)
	p := newPod(t)
	revision := s.put(t, 3)
	only := func(b *task.Backup) { b.Policy = task.Policy{Last: 1} }
	good := p.must(s.backup(both(runOne, only))).Snapshot
	if good.Stale {
		t.Fatal("all members are there, and it is stale")
	}
	nextSecond() // names have no smaller unit
	lost := p.left(s.backup(func(b *task.Backup) { only(b); b.Revision = revision + 1 }), v1beta2.ReasonStaleBackup)
	if !lost.Stale || !slices.Contains(p.stored(), good.Name) {
		t.Errorf("got %+v, left %q", lost, p.stored())
	}
	cluster.Members[0].Stop(t)
	nextSecond()
	p.must(s.backup(plain))
	count := len(p.stored())
	cluster.Members[1].Stop(t)
	for range 2 { // it is there already, and nothing can have been written
		stale := p.left(s.backup(both(again, only, runTwo)), v1beta2.ReasonStaleBackup)
		if !stale.Stale || len(p.stored()) != count {
			t.Errorf("got %+v, left %q", stale, p.stored())
		}
	}
	accepted := p.run(s.backup(func(b *task.Backup) { b.AcceptStale = true }))
	if accepted.Failure != nil || !accepted.Snapshot.Stale || len(accepted.Warnings) != 1 {
		t.Errorf("before a restore: %+v, %+v", accepted, accepted.Failure)
	}
}

// TestSetBack has a cluster that takes writes, and has less than it once had. Each run saves it once, however often it is tried.
func TestSetBack(t *testing.T) {
	s, p := start(t), newPod(t)
	try := func(run func(*task.Backup)) *v1beta2.SnapshotStatus {
		t.Helper()
		s.put(t, 1)
		nextSecond()
		return p.left(s.backup(func(b *task.Backup) { again(b); run(b); b.Revision = 1000 }), v1beta2.ReasonStaleBackup)
	}
	first := try(runOne)
	for range 2 {
		if next := try(runOne); next.Name != first.Name || len(p.stored()) != 2 {
			t.Errorf("another try has saved %s beside %s", next.Name, first.Name)
		}
	}
	if next := try(runTwo); next.Name == first.Name || len(p.stored()) != 4 {
		t.Errorf("another run has %s, stored %q", next.Name, p.stored())
	}
}

// nextSecond waits until the clock shows another second.
func nextSecond() {
	for now := time.Now().Unix(); time.Now().Unix() == now; {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestDiscardsItsOwn does not delete at a key what someone else has written there since.
func TestDiscardsItsOwn(t *testing.T) {
	for title, theirs := range map[string]bool{"its own": false, "another one's": true} {
		p := newPod(t)
		m := p.save(nightly, time.Now(), 7)
		r := &runner{Task: p.task(task.Task{Backup: &task.Backup{LegacyKey: m.Object}}), dirs: p.dirs, at: &Tracker{}}
		if err := r.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if theirs {
			other := m
			other.Writer.Name = "another"
			p.describe(other)
		}
		damage := errors.New("it is damaged")
		if err := r.discard(t.Context(), m, damage); !errors.Is(err, damage) {
			t.Errorf("%s: got %v", title, err)
		}
		if left := len(p.stored()) == 2; left != theirs || len(r.result.Warnings) > 0 != theirs || (r.result.Discarded == "") != theirs {
			t.Errorf("%s: left %q, told %+v", title, p.stored(), r.result)
		}
	}
}
