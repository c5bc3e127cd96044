package damage

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// put writes one of a member's files and returns its path.
func put(t *testing.T, volume string, content []byte, name ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{volume, "data", "member"}, name...)...)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// changed lists the offsets at which a file differs from what it was.
func changed(t *testing.T, path string, before []byte) []int {
	t.Helper()
	after, err := os.ReadFile(path) // #nosec G304 -- a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before) {
		t.Fatalf("%s has %d bytes, and had %d", path, len(after), len(before))
	}
	var offsets []int
	for i := range after {
		if after[i] != before[i] {
			offsets = append(offsets, i)
		}
	}
	return offsets
}

func TestWAL(t *testing.T) {
	volume := t.TempDir()
	const written, size = 1000, 4096
	content := append(bytes.Repeat([]byte{7}, written), make([]byte, size-written)...)
	old := put(t, volume, content, "wal", "0000000000000000-0000000000000000.wal")
	newest := put(t, volume, content, "wal", "000000000000000a-0000000000001000.wal")
	put(t, volume, content, "wal", "1.tmp")
	if err := WAL(volume); err != nil {
		t.Fatal(err)
	}
	if offsets := changed(t, old, content); len(offsets) != 0 {
		t.Errorf("the older segment changed at %v", offsets)
	}
	offsets := changed(t, newest, content)
	if len(offsets) != 16 || offsets[0] != written/2 {
		t.Errorf("the newest segment changed at %v", offsets)
	}
}

func TestWALNeedsSomethingWritten(t *testing.T) {
	volume := t.TempDir()
	if err := WAL(volume); err == nil {
		t.Error("a volume without a log was damaged")
	}
	put(t, volume, make([]byte, 4096), "wal", "0.wal")
	if err := WAL(volume); err == nil {
		t.Error("an empty segment was damaged")
	}
}

// pageBytes is as large as bbolt makes a page here.
const pageBytes = 4096

// database has two meta pages, used pages, and a page that was never used.
func database(used int) []byte {
	const metas, unused = 2, 1
	content := make([]byte, (metas+used+unused)*pageBytes)
	for page := range metas + used {
		content[page*pageBytes+8] = 1
	}
	binary.LittleEndian.PutUint32(content[16:], 0xED0CDAED)
	binary.LittleEndian.PutUint32(content[24:], pageBytes)
	return content
}

func TestDB(t *testing.T) {
	const used = 8
	volume := t.TempDir()
	content := database(used)
	path := put(t, volume, content, "snap", "db")
	if err := DB(volume); err != nil {
		t.Fatal(err)
	}
	pages := map[int]int{}
	for _, offset := range changed(t, path, content) {
		pages[offset/pageBytes]++
	}
	// Two metas, then the middle half of eight.
	for page := range used + 3 {
		want := 0
		if page >= 4 && page < 8 {
			want = 16
		}
		if pages[page] != want {
			t.Errorf("%d bytes of page %d changed, want %d", pages[page], page, want)
		}
	}
}

func TestDBRefusesWhatIsNone(t *testing.T) {
	tooLarge := database(1)
	binary.LittleEndian.PutUint32(tooLarge[24:], 1<<30)
	for name, content := range map[string][]byte{
		"empty": {}, "text": bytes.Repeat([]byte("no database"), 1000), "page size": tooLarge, "no page": database(0),
	} {
		volume := t.TempDir()
		path := put(t, volume, content, "snap", "db")
		if err := DB(volume); err == nil {
			t.Errorf("%s: damaged", name)
		}
		if offsets := changed(t, path, content); len(offsets) != 0 {
			t.Errorf("%s: changed at %v", name, offsets)
		}
	}
	if err := DB(t.TempDir()); err == nil {
		t.Error("a volume without a database was damaged")
	}
}

func TestValue(t *testing.T) {
	volume := t.TempDir()
	content := database(2)
	const first, second = 9000, 13000
	copy(content[first:], "a value")
	copy(content[second:], "a value")
	path := put(t, volume, content, "snap", "db")
	if err := Value(volume, "value"); err != nil {
		t.Fatal(err)
	}
	if got, want := changed(t, path, content), []int{first + 6, second + 6}; !slices.Equal(got, want) {
		t.Errorf("bytes %v changed, want %v", got, want)
	}
	for _, text := range []string{"another value", ""} {
		if err := Value(volume, text); err == nil {
			t.Errorf("text %q was found", text)
		}
	}
}
