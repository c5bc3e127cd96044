package agent

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// alarm raises an alarm for a member.
func (s *server) alarm(t *testing.T, kind etcdserverpb.AlarmType) {
	t.Helper()
	_, err := etcdserverpb.NewMaintenanceClient(s.ActiveConnection()).Alarm(t.Context(), &etcdserverpb.AlarmRequest{
		Action: etcdserverpb.AlarmRequest_ACTIVATE, Alarm: kind, MemberID: 0xbeef,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAlarms says which alarms were on, when a backup is checked by a restore and when it is restored.
func TestAlarms(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 10)
	s.alarm(t, etcdserverpb.AlarmType_NOSPACE)
	s.alarm(t, etcdserverpb.AlarmType_CORRUPT)
	saved := p.run(s.backup(func(b *task.Backup) { b.Verify = v1beta2.VerifyRestore }))
	found := p.run(verify(func(v *task.Verify) { v.Object, v.Trial = saved.Snapshot.Name, true }))
	for _, result := range []task.Result{saved, found} {
		text := strings.Join(result.Warnings, "\n")
		if result.Failure != nil || len(result.Warnings) != 2 || !strings.Contains(text, "NOSPACE for member beef") ||
			!strings.Contains(text, "CORRUPT for member beef") || !strings.Contains(text, "may be wrong") {
			t.Errorf("got %+v, %+v", result, result.Failure)
		}
		for _, warning := range result.Warnings {
			if strings.HasSuffix(warning, "…") {
				t.Errorf("it is cut off: %s", warning)
			}
		}
	}
	if d := found.Database; d == nil || len(d.Alarms) != 2 || d.SizeBytes <= 0 || d.InUseBytes <= 0 || d.AuthEnabled {
		t.Errorf("the database is %+v", d)
	}
	data := filepath.Join(t.TempDir(), "data")
	p.must(restore(found.Snapshot, data))
	again := start(t, func(c *embed.Config) { c.Dir = data })
	again.put(t, 1)
}

// TestForeignAuth reads an object without a manifest, as coreos/etcd-operator and etcdctl leave it, for what it asks of a
// cluster.
func TestForeignAuth(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 10)
	if _, err := s.UserAdd(t.Context(), "root", "secret"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UserGrantRole(t.Context(), "root", "root"); err != nil {
		t.Fatal(err)
	}
	s.alarm(t, etcdserverpb.AlarmType_NOSPACE)
	if _, err := s.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
	root, err := clientv3.New(clientv3.Config{
		Endpoints: s.endpoints, Username: "root", Password: "secret", Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	stream, err := root.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	const name = "by-hand.db"
	if err := os.MkdirAll(filepath.Dir(p.object(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.object(name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	result := p.run(verify(named(name)))
	d := result.Database
	if result.Failure != nil || d == nil || !d.AuthEnabled || len(d.Alarms) != 1 || d.SizeBytes != int64(len(data)-32) ||
		len(result.Warnings) != 1 {
		t.Errorf("got %+v, %+v, %+v", result, d, result.Failure)
	}
}

// TestRestoredRevision restores above the revision that was seen, and tells the snapshot's own.
func TestRestoredRevision(t *testing.T) {
	p, s := newPod(t), start(t)
	revision := s.put(t, 10)
	saved := p.must(s.backup(func(b *task.Backup) { b.Compress = false })).Snapshot
	const (
		name  = "by-hand.db"
		floor = 3 * task.RevisionBump
	)
	if err := os.Rename(p.object(saved.Name), p.object(name)); err != nil {
		t.Fatal(err)
	}
	found := p.must(verify(named(name))).Snapshot
	data := filepath.Join(t.TempDir(), "data")
	back := restore(found, data)
	back.Restore.RevisionFloor = floor
	if got := p.must(back).Snapshot; got.Revision != revision {
		t.Errorf("the snapshot's revision is %d, not %d", got.Revision, revision)
	}
	again := start(t, func(c *embed.Config) { c.Dir = data })
	if now := again.put(t, 1); now != floor+task.RevisionBump+1 {
		t.Errorf("it goes on at %d", now)
	}
}
