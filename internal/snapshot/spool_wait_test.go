package snapshot

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestSpoolWaits tells once how long etcd has waited for a storage, with a spool that is full and with none, unless it was moments.
func TestSpoolWaits(t *testing.T) {
	for title, c := range map[string]struct {
		limit int64
		pause time.Duration
		want  []time.Duration
	}{
		"a full spool": {4 << 20, time.Second, []time.Duration{12 * time.Second}}, // what is in memory goes first
		"no spool":     {0, time.Second, []time.Duration{8 * time.Second}},
		"moments":      {0, 10 * time.Millisecond, nil},
		"room enough":  {64 << 20, time.Second, nil},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []time.Duration
				q := newQueue(Spool{Folder: t.TempDir(), Limit: c.limit, space: roomy, Waited: func(d time.Duration) {
					told = append(told, d.Round(time.Second))
				}})
				go func() {
					_, _ = q.Write(make([]byte, near+9<<20))
					q.end(nil)
				}()
				synctest.Wait()
				for buffer := make([]byte, 1<<20); ; time.Sleep(c.pause) {
					if _, err := io.ReadFull(q, buffer); err != nil {
						break
					}
				}
				q.close()
				if !slices.Equal(told, c.want) {
					t.Errorf("told of %v, want %v", told, c.want)
				}
			})
		})
	}
}

// TestSpoolGrows has others fill the disk while the file grows: it goes round in what it has, and loses nothing.
func TestSpoolGrows(t *testing.T) {
	content := make([]byte, 200<<20)
	_, _ = rand.NewChaCha8([32]byte{4}).Read(content)
	synctest.Test(t, func(t *testing.T) {
		disk := space{total: 4096 << 20, free: 4096 << 19}
		q := newQueue(Spool{Folder: t.TempDir(), Limit: 1 << 30, space: func(string) (space, error) {
			seen := disk
			disk.free = disk.total / spared // from now on nothing more may be used
			return seen, nil
		}})
		go func() {
			_, _ = q.Write(content)
			q.end(nil)
		}()
		synctest.Wait() // until there is no room any more
		if size := q.disk.size; size < growth || size >= 2*growth || q.disk.behind != size {
			t.Errorf("of %d bytes that the file may have it has %d", size, q.disk.behind)
		}
		if got, err := io.ReadAll(q); err != nil || !bytes.Equal(got, content) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		q.close()
	})
}
