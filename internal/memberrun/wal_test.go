package memberrun

import (
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

var testIdentity = member.Identity{ClusterID: 0xfedcba9876543210, MemberID: 0x17}

// newLog writes a real log with that many entries of 1 KiB, over several segments if need be.
func newLog(t *testing.T, entries int) (dataDir string, segments []string) {
	t.Helper()
	dataDir = t.TempDir()
	return dataDir, writeLog(t, dataDir, testIdentity, entries)
}

func writeLog(t *testing.T, dataDir string, whose member.Identity, entries int) (segments []string) {
	t.Helper()
	dir := filepath.Join(dataDir, "member", "wal")
	metadata, err := proto.Marshal(&etcdserverpb.Metadata{
		NodeID: proto.Uint64(uint64(whose.MemberID)), ClusterID: proto.Uint64(uint64(whose.ClusterID)),
	})
	if err != nil {
		t.Fatal(err)
	}
	size := wal.SegmentSizeBytes
	wal.SegmentSizeBytes = 8 << 10
	defer func() { wal.SegmentSizeBytes = size }()
	log, err := wal.Create(zap.NewNop(), dir, metadata)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		n := uint64(i + 1)
		state := &raftpb.HardState{Term: proto.Uint64(1), Vote: proto.Uint64(0x17), Commit: &n}
		entry := &raftpb.Entry{Term: proto.Uint64(1), Index: &n, Data: make([]byte, 1<<10)}
		if err := log.Save(state, []*raftpb.Entry{entry}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	segments, err = filepath.Glob(filepath.Join(dir, "*.wal"))
	if err != nil {
		t.Fatal(err)
	}
	return segments
}

func TestReadIdentity(t *testing.T) {
	whole, one := newLog(t, 3)
	long, many := newLog(t, 30)
	if len(one) != 1 || len(many) < 3 {
		t.Fatalf("%d and %d segments, want 1 and more than 2", len(one), len(many))
	}
	purged, segments := newLog(t, 30)
	remove(t, segments[:len(segments)-1]...)
	damagedHead, segments := newLog(t, 30)
	damage(t, segments[0], 16)
	damagedTail, segments := newLog(t, 3)
	damage(t, segments[0], 2<<10)
	damagedNext, segments := newLog(t, 3)
	damage(t, segments[0], 100)
	late, segments := newLog(t, 0)
	second := filepath.Join(filepath.Dir(segments[0]), "0000000000000001-0000000000000009.wal")
	if err := os.Rename(segments[0], second); err != nil {
		t.Fatal(err)
	}
	odd, _ := newLog(t, 3)
	write(t, filepath.Join(odd, "member", "wal", "0.tmp"), "x")
	for name, dir := range map[string]string{
		"one segment": whole, "many segments": long, "first segments purged": purged, "first head damaged": damagedHead,
		"damaged behind the head": damagedNext, "damaged further on": damagedTail, "unfinished segment": odd,
		"nothing behind a later head": late,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readIdentity(dir)
			if err != nil || got == nil || *got != testIdentity {
				t.Errorf("readIdentity = %v, %v, want %v", got, err, testIdentity)
			}
		})
	}
}

// TestReadIdentityOf35 reads the head of a log that etcd 3.5.35 wrote; the IDs are those that it reported.
func TestReadIdentityOf35(t *testing.T) {
	head, err := os.ReadFile("testdata/3.5.35.wal")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "member", "wal", firstSegment), string(head))
	got, err := readIdentity(dir)
	want := member.Identity{ClusterID: 0x6ff7ad0266691698, MemberID: 0x5b941b0d71c9917e}
	if err != nil || got == nil || *got != want {
		t.Errorf("readIdentity = %v, %v, want %v", got, err, want)
	}
}

func TestReadIdentityNothing(t *testing.T) {
	idle, _ := newLog(t, 0)
	leftover := t.TempDir()
	write(t, filepath.Join(leftover, "member", "snap", "db"), "x")
	noSegment := t.TempDir()
	write(t, filepath.Join(noSegment, "member", "wal", "0.tmp"), "x")
	unfinished := t.TempDir()
	write(t, filepath.Join(unfinished, "member", "wal.tmp", firstSegment), "x")
	for name, dir := range map[string]string{
		"no directory": filepath.Join(t.TempDir(), "data"), "empty": t.TempDir(), "failed join": leftover,
		"no segment": noSegment, "log not in place": unfinished, "nothing behind the head": idle,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := readIdentity(dir); got != nil || err != nil {
				t.Errorf("readIdentity = %v, %v, want nothing", got, err)
			}
		})
	}
}

// TestReadIdentityUnreadable holds that what cannot be read is never taken for nothing.
func TestReadIdentityUnreadable(t *testing.T) {
	emptyFile := t.TempDir()
	write(t, filepath.Join(emptyFile, "member", "wal", firstSegment), "")
	damaged, segments := newLog(t, 3)
	damage(t, segments[0], 16)
	noMetadata := t.TempDir()
	write(t, filepath.Join(noMetadata, "member", "wal", firstSegment), string(snapshotRecord(t)))
	notADirectory := t.TempDir()
	write(t, filepath.Join(notADirectory, "member", "wal"), "x")
	notAFile := t.TempDir()
	if err := os.MkdirAll(filepath.Join(notAFile, "member", "wal", firstSegment), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"empty file": emptyFile, "damaged head": damaged, "no metadata": noMetadata, "not a directory": notADirectory,
		"not a file": notAFile,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := readIdentity(dir); got != nil || err == nil {
				t.Errorf("readIdentity = %v, %v, want an error", got, err)
			}
		})
	}
}

// snapshotRecord is a well-formed record that no segment starts with: its length, its type, its padding.
func snapshotRecord(t *testing.T) []byte {
	t.Helper()
	record, err := proto.Marshal(&walpb.Record{Type: proto.Int64(wal.SnapshotType), Crc: proto.Uint32(0)})
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, 8+8)
	frame[0], frame[7] = byte(len(record)), byte(0x80|(8-len(record)))
	copy(frame[8:], record)
	return frame
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// damage overwrites some bytes from an offset on.
func damage(t *testing.T, path string, offset int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte("overwritten by something else"), offset); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
