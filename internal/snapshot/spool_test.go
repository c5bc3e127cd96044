package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// faulty is a disk in memory.
type faulty struct {
	mu sync.Mutex
	memory
	// room is how many bytes may be written in all, and most how far anything was written; flip changes what is read.
	room, most int64
	flip       bool
	closed     bool
}

func (f *faulty) WriteAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := int(min(int64(len(p)), f.room))
	f.room -= int64(n)
	f.most = max(f.most, offset+int64(n))
	copy(f.memory[offset:], p[:n])
	if n < len(p) {
		return n, &os.PathError{Op: "write", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (f *faulty) ReadAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.memory.ReadAt(p, offset)
	if f.flip && n > 0 {
		p[n/2] ^= 1
		f.flip = false
	}
	return n, err
}

func (f *faulty) Close() error { f.closed = true; return nil }

// TestQueue writes and reads at speeds that change, so that everything waits at times, over disks that fail in every way.
func TestQueue(t *testing.T) {
	const size, limit = 40 << 20, 3<<20 + 17
	for title, c := range map[string]struct {
		limit  int64
		disk   *faulty
		open   error
		failed bool
		want   string
	}{
		"a disk":                {limit: limit, disk: &faulty{room: 1 << 40}},
		"none":                  {},
		"one that is not there": {limit: limit, open: errors.New("gone"), failed: true},
		"one that is full":      {limit: limit, disk: &faulty{}, failed: true},
		"one that fills up":     {limit: limit, disk: &faulty{room: 5<<20 + 3}, failed: true},
		"one that forgets":      {limit: limit, disk: &faulty{room: 1 << 40, flip: true}, want: v1beta2.ReasonScratchFailed},
	} {
		t.Run(title, func(t *testing.T) {
			var failed error
			q := newQueue(Spool{Limit: c.limit, Failed: func(err error) { failed = err }})
			q.open = func() (disk, int64, error) {
				if c.open != nil {
					return nil, 0, c.open
				}
				c.disk.memory = make(memory, c.limit)
				return c.disk, c.limit, nil
			}
			content := make([]byte, size)
			_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
			go func() {
				for rest := content; len(rest) > 0; {
					n, err := q.Write(rest[:min(len(rest), 1+rand.IntN(1<<19))])
					if err != nil {
						return
					}
					rest = rest[n:]
				}
				q.end(nil)
			}()
			waitFull(q)
			var got bytes.Buffer
			_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{q}, make([]byte, 100_001))
			q.stop(err)
			q.close()
			if reason(err) != c.want || c.want == "" && !bytes.Equal(got.Bytes(), content) {
				t.Errorf("read %d bytes, %v, want %q", got.Len(), err, c.want)
			}
			if c.failed != (failed != nil) {
				t.Errorf("told of %v", failed)
			}
			if c.disk != nil && (c.disk.most > limit || !c.disk.closed || c.disk.most == 0 && !c.failed) {
				t.Errorf("used %d bytes of the disk, closed: %v", c.disk.most, c.disk.closed)
			}
		})
	}
}

// waitFull waits until nothing fits any more.
func waitFull(q *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.memory.free() > 0 || q.disk.free() > 0 || !q.given {
		q.moved.Wait()
	}
}

// roomy is a disk of which a half is free, whatever disk the test runs on.
func roomy(string) (space, error) { return space{total: 4096 << 20, free: 4096 << 19}, nil }

// crowded is one of which a little less than a fifth is free.
func crowded(string) (space, error) { return space{total: 4096 * 1000, free: 4096 * 199}, nil }

// gated takes nothing before its gate is open.
type gated struct {
	io.Writer
	gate <-chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	<-g.gate
	return g.Writer.Write(p)
}

// counted notes how much was read, and that it was closed.
type counted struct {
	io.Reader
	bytes  int
	closed chan struct{}
	once   sync.Once
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += n
	return n, err
}

func (c *counted) Close() error { c.once.Do(func() { close(c.closed) }); return nil }

// TestSlowStorage has the storage begin to take something only when etcd is done with: etcd must not wait for it.
func TestSlowStorage(t *testing.T) {
	whole := make([]byte, 50<<20)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(whole)
	whole = sealed(whole)
	for title, e := range encodings(t) {
		t.Run(title, func(t *testing.T) {
			folder, body := t.TempDir(), &counted{Reader: bytes.NewReader(whole), closed: make(chan struct{})}
			j := job(e)
			j.Spool = Spool{Folder: folder, Limit: 60 << 20, space: roomy, Failed: func(err error) { t.Error(err) }}
			var object bytes.Buffer
			m := Manifest{}
			s := &Stream{Body: body}
			if err := j.move(&gated{&object, body.closed}, s, func() {}, &m); err != nil {
				t.Fatal(err)
			}
			sum := newMeter()
			_, _ = sum.Write(object.Bytes())
			if m.StoredSHA256 != sum.sum() || m.StoredSize != int64(object.Len()) || m.Size != int64(len(whole)) {
				t.Errorf("uploaded %d bytes, and the manifest says %+v", object.Len(), m)
			}
			if left := files(t, folder); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestSpoolForgets changes a byte of what waits on the disk: the upload must not end as if it were whole.
func TestSpoolForgets(t *testing.T) {
	whole := make([]byte, 30<<20)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(whole)
	folder, body := t.TempDir(), &counted{Reader: bytes.NewReader(sealed(whole)), closed: make(chan struct{})}
	j := job(Encoding{})
	j.Spool = Spool{Folder: folder, Limit: 60 << 20, space: roomy}
	changed := make(chan struct{})
	go func() {
		<-body.closed
		waiting, err := filepath.Glob(filepath.Join(folder, "*"))
		if err == nil && len(waiting) == 1 {
			err = flip(waiting[0], 20<<20)
		}
		if err != nil || len(waiting) != 1 {
			t.Errorf("there is %v, %v", waiting, err)
		}
		close(changed)
	}()
	if err := j.move(&gated{io.Discard, changed}, &Stream{Body: body}, func() {}, &Manifest{}); reason(err) != v1beta2.ReasonScratchFailed {
		t.Errorf("got %v", err)
	}
}

// flip changes a bit of a file in its place.
func flip(path string, offset int64) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	_, err = file.ReadAt(b, offset)
	b[0] ^= 1
	if err == nil {
		_, err = file.WriteAt(b, offset)
	}
	return errors.Join(err, file.Close())
}

// TestSpoolFull has the storage take nothing: of etcd no more is read than there is room for, and it counts as stalled.
func TestSpoolFull(t *testing.T) {
	const limit, size = 4 << 20, 64 << 20
	synctest.Test(t, func(t *testing.T) {
		body := &counted{Reader: bytes.NewReader(make([]byte, size)), closed: make(chan struct{})}
		watched, touch, stop := watch(t.Context(), time.Minute)
		defer stop()
		j := job(Encoding{})
		var waited time.Duration
		j.Spool = Spool{Folder: t.TempDir(), Limit: limit, space: roomy, Waited: func(d time.Duration) { waited += d }}
		err := stalled(watched, j.move(storage{watched}, &Stream{Body: body}, touch, &Manifest{}))
		if reason(err) != v1beta2.ReasonSnapshotStalled || body.bytes < limit+near || body.bytes > limit+near+4*bufferSize {
			t.Errorf("read %d bytes, %v", body.bytes, err)
		}
		if waited != time.Minute {
			t.Errorf("it says that etcd has waited for %s", waited)
		}
	})
}

// storage takes nothing until its context ends.
type storage struct{ ctx context.Context }

func (s storage) Write([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }

// TestSpoolFile has the real disk be used no further than allowed, and not where there is none.
func TestSpoolFile(t *testing.T) {
	folder := t.TempDir()
	q := newQueue(Spool{Folder: folder, Limit: 1 << 20, space: roomy})
	if n, err := q.Write(make([]byte, near+1<<20)); n != near+1<<20 || err != nil {
		t.Fatal(n, err)
	}
	left := files(t, folder)
	if len(left) != 1 {
		t.Fatalf("there is %v", left)
	}
	info, err := os.Stat(filepath.Join(folder, left[0]))
	if err != nil || info.Size() != 1<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %d bytes, mode %s, %v", info.Size(), info.Mode(), err)
	}
	q.close()
	if left := files(t, folder); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	for title, spool := range map[string]Spool{
		"no folder":         {Folder: filepath.Join(folder, "nothing")},
		"less than a fifth": {Folder: folder, space: crowded},
	} {
		var failed error
		spool.Limit, spool.Failed = 1<<20, func(err error) { failed = err }
		q = newQueue(spool)
		go func() { _, _ = q.Write(make([]byte, near+1)); q.end(nil) }()
		if n, err := io.Copy(io.Discard, q); n != near+1 || err != nil || failed == nil {
			t.Errorf("%s: read %d bytes, %v, told of %v", title, n, err, failed)
		}
	}
}
