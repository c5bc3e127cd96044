package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestParseID(t *testing.T) {
	if id, err := ParseID("n1/a-b"); err != nil || id != (ID{"n1", "a-b"}) || id.String() != "n1/a-b" || id.Volume() != "n1-a-b" {
		t.Errorf("ParseID = %v, %v", id, err)
	}
	for _, text := range []string{"", "n1", "n1/", "/a", "n1/A", "n1/a/b", "n1/../x", "n1/-a"} {
		if id, err := ParseID(text); err == nil {
			t.Errorf("ParseID(%q) = %v", text, id)
		}
	}
}

func TestStore(t *testing.T) {
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		t.Skip("no mkfs.ext4")
	}
	store, id := Store{Dir: t.TempDir()}, ID{"n1", "a"}
	if ids, err := store.List("n1"); err != nil || len(ids) != 0 {
		t.Errorf("an empty store lists %v, %v", ids, err)
	}
	if err := store.SetDelay(id, time.Second); err == nil {
		t.Error("a disk that is not there was slowed")
	}
	if err := store.Create(t.Context(), id, MinBytes-1); err == nil {
		t.Error("a disk that is too small was made")
	}
	for _, id := range []ID{id, {"n11", "a"}} {
		if err := store.Create(t.Context(), id, MinBytes); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Create(t.Context(), id, MinBytes); err == nil {
		t.Error("a disk was made anew")
	}
	if info, err := os.Stat(filepath.Join(store.images(), "n1-a")); err != nil || info.Size() != MinBytes {
		t.Errorf("the image is %v, %v", info, err)
	}
	if ids, err := store.List("n1"); err != nil || len(ids) != 1 || ids[0] != id {
		t.Errorf("the disks are %v, %v", ids, err)
	}
	if err := store.SetDelay(id, time.Second); err != nil {
		t.Fatal(err)
	}
	if delay, err := readDelay(store.delayFile(id.Volume())); err != nil || delay != time.Second {
		t.Errorf("the delay is %v, %v", delay, err)
	}
	for range 2 { // Removing what is gone does nothing.
		if err := store.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
	if store.Check(id) == nil {
		t.Error("it is still there")
	}
}

func TestFlushIsDelayedUntilTheDiskIsFast(t *testing.T) {
	file := filepath.Join(t.TempDir(), "delay")
	image := &opened{delay: file}
	set := func(delay string) {
		t.Helper()
		// By a rename: a flush must never read half of it.
		if err := os.WriteFile(file+".new", []byte(delay), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	flush := func() <-chan time.Duration {
		took := make(chan time.Duration, 1)
		began := time.Now()
		go func() {
			if errno := image.Fsync(t.Context(), 0); errno != 0 {
				t.Error(errno)
			}
			took <- time.Since(began)
		}()
		return took
	}
	const delay = 50 * time.Millisecond
	if took := <-flush(); took > delay {
		t.Errorf("a fast flush took %v", took)
	}
	set(delay.String())
	if took := <-flush(); took < delay {
		t.Errorf("a slow flush took %v", took)
	}
	set("1h")
	hanging := flush()
	set("0s")
	<-hanging
	set("nonsense")
	if errno := image.Fsync(t.Context(), 0); errno == 0 {
		t.Error("a delay that cannot be read was taken for none")
	}
}

func TestHasMount(t *testing.T) {
	const mountinfo = "22 27 0:21 / /proc rw,relatime - proc proc rw\n31 27 7:0 / /state/nodes/n1/disks/a rw - ext4 /dev/loop0 rw\n"
	for path, want := range map[string]bool{"/state/nodes/n1/disks/a": true, "/state/nodes/n1/disks": false, "/": false} {
		if got := hasMount(mountinfo, path); got != want {
			t.Errorf("hasMount(%s) = %v", path, got)
		}
	}
}

func TestFillNeedsAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "absent")
	if Fill(folder) == nil || Open(folder) == nil {
		t.Error("a folder that is not there was filled")
	}
	if err := Free(folder); err != nil {
		t.Errorf("freeing what was not filled: %v", err)
	}
}
