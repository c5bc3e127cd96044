package record

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCopySparse copies what there is, and makes no room for what there is not.
func TestCopySparse(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	want := make([]byte, 8<<20+17)
	copy(want, "begins")
	copy(want[5<<20:], "goes on")
	want[len(want)-1] = 'e'
	if err := os.WriteFile(from, want, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copySparse(from, to); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the copy differs")
	}
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	const blockBytes = 512
	if held := info.Sys().(*syscall.Stat_t).Blocks * blockBytes; held > 4<<20 {
		t.Errorf("the copy takes %d bytes of the disk", held)
	}
}

// TestTakeForgetsWhatIsGone holds for segments that etcd has removed since.
func TestTakeForgetsWhatIsGone(t *testing.T) {
	data, logs := t.TempDir(), Logs{Folder: filepath.Join(t.TempDir(), "logs")}
	if folders, err := logs.Folders(); err != nil || len(folders) != 0 {
		t.Errorf("before the first copy: %v, %v", folders, err)
	}
	wal := filepath.Join(data, walFolder)
	if err := os.MkdirAll(wal, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"0.wal", "1.wal", "2.tmp"} {
		if err := os.WriteFile(filepath.Join(wal, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := logs.Take("a", data); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(wal, "0.wal")); err != nil {
		t.Fatal(err)
	}
	if err := logs.Take("a", data); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(logs.Folder, "a", walFolder))
	if err != nil || len(left) != 1 || left[0].Name() != "1.wal" {
		t.Errorf("the copy holds %v, %v", left, err)
	}
}
