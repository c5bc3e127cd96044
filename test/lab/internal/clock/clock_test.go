package clock

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWallAt(t *testing.T) {
	before := Reading{Wall: 1000, Boot: 10}
	if wall, same := before.wallAt(15); wall != 1005 || !same {
		t.Errorf("after 5 ns the clock is at %d, %v", wall, same)
	}
	if _, same := before.wallAt(9); same {
		t.Error("a machine that was booted since is the same")
	}
}

func TestReadAgreesWithGo(t *testing.T) {
	before := time.Now().UnixNano()
	now, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if after := time.Now().UnixNano(); now.Wall < before || now.Wall > after || now.Boot <= 0 {
		t.Errorf("%+v is not between %d and %d", now, before, after)
	}
}

func TestRestore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clock")
	if err := Restore(file); err != nil {
		t.Errorf("a clock that was not moved: %v", err)
	}
	// A record from before a boot is void: nothing is set, so this needs no privilege.
	const year = int64(365 * 24 * time.Hour)
	if err := (Reading{Wall: 1, Boot: 100 * year}).write(file); err != nil {
		t.Fatal(err)
	}
	if err := Restore(file); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the void record is still there")
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Restore(file); err == nil {
		t.Error("a damaged record was taken for none")
	}
}
