package snapshot

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestAlarms restores snapshots that were taken while etcd had alarms: of the restored data etcd takes writes.
func TestAlarms(t *testing.T) {
	for alarm, refusal := range map[etcdserverpb.AlarmType]error{
		etcdserverpb.AlarmType_NOSPACE: rpctypes.ErrNoSpace, etcdserverpb.AlarmType_CORRUPT: rpctypes.ErrCorrupt,
	} {
		t.Run(alarm.String(), func(t *testing.T) {
			cluster := embedtest.Start(t, 1)
			c := client(t, cluster)
			revision := fill(t, c, 10)
			const other = 0xbeef // an alarm can be of a member that has gone since
			_, err := etcdserverpb.NewMaintenanceClient(c.ActiveConnection()).Alarm(t.Context(), &etcdserverpb.AlarmRequest{
				Action: etcdserverpb.AlarmRequest_ACTIVATE, Alarm: alarm, MemberID: other,
			})
			if err != nil {
				t.Fatal(err)
			}
			b, m, file := backUp(t, cluster)
			want := v1beta2.SnapshotAlarm{Name: alarm.String(), MemberID: "beef"}
			content, err := VerifyRestore(t.Context(), b, m, nil, t.TempDir(), nil)
			if err != nil || len(content.Database.Alarms) != 1 || content.Database.Alarms[0] != want {
				t.Fatalf("verified %+v, %v", content, err)
			}

			as := filepath.Join(t.TempDir(), "as-it-was")
			if err := extract(file, as, who, 0, v1beta2.SnapshotDatabase{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client(t, start(t, as)).Put(t.Context(), "key", "value"); !errors.Is(err, refusal) {
				t.Fatalf("with the alarm etcd says %v", err)
			}
			data := filepath.Join(t.TempDir(), "data")
			before, after, err := Restore(file, data, "3.7.3", who, 0)
			if err != nil || len(before.Database.Alarms) != 1 || len(after.Database.Alarms) != 0 {
				t.Fatalf("restored %+v of %+v, %v", after, before, err)
			}
			restored := client(t, start(t, data))
			testRestoredAlarms(t, restored, revision)
		})
	}
}

func testRestoredAlarms(t *testing.T, c *clientv3.Client, revision int64) {
	t.Helper()
	if _, err := c.Put(t.Context(), "key", "value"); err != nil {
		t.Errorf("it takes no writes: %v", err)
	}
	all, err := c.Get(t.Context(), "key-", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || all.Count != 9 || all.Header.Revision <= revision {
		t.Errorf("it has %+v, %v", all, err)
	}
	if list, err := c.AlarmList(t.Context()); err != nil || len(list.Alarms) != 0 {
		t.Errorf("its alarms are %v, %v", list, err)
	}
}

// TestDatabase reads what a cluster must have room for, and be able to run.
func TestDatabase(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	c := client(t, cluster)
	for i := range 200 {
		if _, err := c.Put(t.Context(), fmt.Sprint("large-", i), strings.Repeat("x", 10<<10)); err != nil {
			t.Fatal(err)
		}
	}
	gone, err := c.Delete(t.Context(), "large-", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compact(t.Context(), gone.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	_, m, file := backUp(t, cluster)
	content, err := Inspect(file, 0)
	d := content.Database
	if err != nil || d.SizeBytes != m.Size-trailer || d.SizeBytes < 2<<20 || d.InUseBytes <= 0 || d.InUseBytes > 1<<20 ||
		d.AuthEnabled || len(d.Alarms) != 0 {
		t.Errorf("a snapshot of %d bytes: %+v, %v", m.Size, d, err)
	}

	if _, err := c.UserAdd(t.Context(), "root", "secret"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UserGrantRole(t.Context(), "root", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
	authenticated := config(cluster)
	authenticated.Username, authenticated.Password = "root", "secret"
	b, _ := bucket(t)
	m = mustSave(t, b, FromEtcd(authenticated, 0), job(Encoding{}))
	content, err = VerifyRestore(t.Context(), b, m, nil, t.TempDir(), nil)
	if err != nil || !content.Database.AuthEnabled {
		t.Errorf("with authentication: %+v, %v", content.Database, err)
	}
}

// TestRevisionFloor restores an old snapshot of a cluster that has gone on far beyond it, and again what was restored. Whoever
// watches from where it was is told to start anew.
func TestRevisionFloor(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	revision := fill(t, client(t, cluster), 10)
	_, _, file := backUp(t, cluster)
	const seen = 7 * task.RevisionBump
	last := int64(seen)
	for range 2 {
		data := filepath.Join(t.TempDir(), "data")
		before, after, err := Restore(file, data, "3.7.3", who, last)
		if err != nil || after.Revision != last+task.RevisionBump || before.Revisions+1 != after.Revisions {
			t.Fatalf("restored %+v of %+v, %v", after, before, err)
		}
		restored := start(t, data)
		c := client(t, restored)
		for _, from := range []int64{revision, revision + task.RevisionBump + 1, seen, last} {
			answer := <-c.Watch(t.Context(), "key-", clientv3.WithPrefix(), clientv3.WithRev(from))
			if err := answer.Err(); !errors.Is(err, rpctypes.ErrCompacted) {
				t.Errorf("from %d the watch got %v, %v", from, answer.Events, err)
			}
		}
		put, err := c.Put(t.Context(), "key-0000", "again")
		if err != nil || put.Header.Revision <= last+task.RevisionBump {
			t.Fatalf("it goes on at %+v, %v", put, err)
		}
		last = put.Header.Revision
		_, _, file = backUp(t, restored)
	}
	// What is restored without a floor goes up all the same.
	_, after, err := Restore(file, filepath.Join(t.TempDir(), "data"), "3.7.3", who, 0)
	if err != nil || after.Revision != last+task.RevisionBump {
		t.Errorf("restored %+v, %v; it was at %d", after, err, last)
	}
}

func TestRaised(t *testing.T) {
	for _, c := range []struct{ current, floor, want int64 }{
		{1, 0, task.RevisionBump + 1},
		{7, 7, task.RevisionBump + 7},
		{7, 3, task.RevisionBump + 7},
		{7, 5 * task.RevisionBump, 6 * task.RevisionBump},
		{7, math.MaxInt64, floorLimit + task.RevisionBump},
		{7, math.MinInt64, task.RevisionBump + 7},
		{revisionLimit, math.MaxInt64, revisionLimit + task.RevisionBump},
	} {
		if got := raised(c.current, c.floor); got != c.want {
			t.Errorf("%d above %d becomes %d, not %d", c.current, c.floor, got, c.want)
		}
	}
}

// TestCompactedAboveKeys has a database whose last keys were deleted and compacted, far above all that is left.
func TestCompactedAboveKeys(t *testing.T) {
	const compacted = 5 * task.RevisionBump
	for revision, want := range map[int64]string{compacted: "", revisionLimit + 1: v1beta2.ReasonSnapshotDamaged} {
		cluster := embedtest.Start(t, 1)
		fill(t, client(t, cluster), 3)
		_, _, file := backUp(t, cluster)
		data := filepath.Join(t.TempDir(), "data")
		if err := extract(file, data, who, 0, v1beta2.SnapshotDatabase{}); err != nil {
			t.Fatal(err)
		}
		setCompacted(t, databaseIn(data), revision)
		_, _, file = backUp(t, embedtest.Start(t, 1, func(c *embed.Config) { c.Dir = data }))
		before, after, err := Restore(file, filepath.Join(t.TempDir(), "data"), "3.7.3", who, 0)
		if reason(err) != want || err == nil && (before.Current != compacted || after.Revision != compacted+task.RevisionBump) {
			t.Errorf("restored %+v of %+v, %v", after, before, err)
		}
	}
}

func setCompacted(t *testing.T, path string, revision int64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Update(func(tx *bbolt.Tx) error {
		value := mvcc.RevToBytes(mvcc.Revision{Main: revision}, mvcc.NewRevBytes())
		return tx.Bucket(schema.Meta.Name()).Put(schema.FinishedCompactKeyName, value)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestNoRoom reads nothing if what it would make of it has no room.
func TestNoRoom(t *testing.T) {
	b, _ := bucket(t)
	const size = 1 << 60
	_, err := VerifyRestore(t.Context(), b, Manifest{Object: "not looked for", Size: size}, nil, t.TempDir(), nil)
	want := fmt.Sprintf("restoring a snapshot of %dMi takes %dMi", size>>20, 2*(size>>20)+128)
	if reason(err) != v1beta2.ReasonScratchFailed || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "spec.pod.scratch") {
		t.Errorf("got %v, want %s", err, want)
	}
	folder := t.TempDir()
	if err := CheckRoom(folder, 1, 0, ""); err != nil {
		t.Errorf("for a byte: %v", err)
	}
	if err := CheckRoom(filepath.Join(folder, "nothing"), 1, 0, ""); reason(err) != v1beta2.ReasonScratchFailed {
		t.Errorf("on no volume: %v", err)
	}
}
