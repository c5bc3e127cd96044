package snapshot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Spool buffers a snapshot for a storage that is slower than etcd: until etcd has sent all of it, its database keeps every page freed
// meanwhile, and grows with every write. The buffered data is as it will be in the bucket, compressed and encrypted. The zero value
// disables it.
type Spool struct {
	// Folder is on the disk, and Limit how many bytes of it may be used.
	Folder string
	Limit  int64
	// Failed is called with the reason why the disk is not used, or no longer: then etcd waits for the storage. It may be nil.
	Failed func(error)
	// Waited is called with the total time that etcd has waited because the buffer was full, if that is a second or more. It may be
	// nil.
	Waited func(time.Duration)
	// space returns how full the disk is; nil asks the kernel.
	space func(folder string) (space, error)
}

// near is how many bytes wait in memory, before the disk is used at all: a storage that keeps up costs no disk, which may be
// the one that etcd is on.
const near = 8 << 20

// spared is the part of a disk that is never used, one in so many: less than a tenth and the kubelet begins to evict pods,
// etcd's among them.
const spared = 5

const (
	// growth is by how many bytes a file may grow before the disk is looked at again, which others fill, too.
	growth = 64 << 20
	// noWait is how long etcd may wait in all without a warning: no storage keeps up at every moment.
	noWait = time.Second
)

// queue holds what was written and not yet read: the oldest of it in memory, and the rest on disk. There is one writer and one
// reader. Failures of the disk lose nothing: what is on it must be as it was put there, or the reader fails.
type queue struct {
	spool Spool
	open  func() (disk, int64, error)

	mu           sync.Mutex
	moved        *sync.Cond
	memory, disk ring
	// written and read are of what went over the disk.
	written, read *meter
	// looked is how far the file was written when the disk was looked at last, and waited how long there was no room.
	looked int64
	waited time.Duration
	// given tells that the disk was asked for.
	given bool
	// ended is io.EOF after the last Write, or why there is no more; stopped is why the reader has stopped.
	ended, stopped error
}

// disk is a file, which is gone once it is closed.
type disk interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// ring uses so much space repeatedly. The positions only grow.
type ring struct {
	space         disk
	size          int64
	first, behind int64
	// shut takes nothing more, and gives what it has.
	shut bool
}

func (r *ring) held() int64 { return r.behind - r.first }

func (r *ring) free() int64 {
	if r.shut {
		return 0
	}
	return r.size - r.held()
}

func newQueue(s Spool) *queue {
	q := &queue{spool: s, written: newMeter(), read: newMeter(), given: s.Limit <= 0}
	q.moved = sync.NewCond(&q.mu)
	q.memory = ring{space: make(memory, near), size: near}
	q.open = q.openFile
	return q
}

// Write waits only if there is no room.
func (q *queue) Write(p []byte) (n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for n < len(p) {
		switch {
		case q.stopped != nil:
			return n, q.stopped
		case q.disk.held() == 0 && q.memory.free() > 0: // what is on the disk is younger than what is in memory
			put, _ := q.put(&q.memory, p[n:])
			n += put
		case q.disk.free() > 0 && q.mayGrow():
			put, err := q.put(&q.disk, p[n:min(n+growth, len(p))])
			_, _ = q.written.Write(p[n : n+put])
			n += put
			if err != nil {
				q.disk.shut = true
				q.fail(err)
			}
		case !q.given:
			q.prepare()
		default:
			since := time.Now()
			q.moved.Wait()
			q.waited += time.Since(since)
		}
	}
	return n, nil
}

// mayGrow looks at the disk again as the file grows. If no more of it may be used the file goes round in what it has. It tells
// whether there is room in it.
func (q *queue) mayGrow() bool {
	r := &q.disk
	if r.behind >= r.size || r.behind < q.looked+growth {
		return true
	}
	q.looked = r.behind
	if room, err := q.spool.room(); err == nil {
		r.size = min(r.size, r.behind+max(room, 0))
	}
	return r.free() > 0
}

// put writes as much as there is room for in one piece.
func (q *queue) put(r *ring, p []byte) (int, error) {
	return q.move(&r.behind, r, p[:min(int64(len(p)), r.free())], r.space.WriteAt)
}

// move writes or reads as much as there is in one piece at a position, and moves that on. Others may move meanwhile: what was
// free stays free, and what was held is held, for there is one writer and one reader.
func (q *queue) move(position *int64, r *ring, p []byte, at func([]byte, int64) (int, error)) (int, error) {
	offset := *position % r.size
	p = p[:min(int64(len(p)), r.size-offset)]
	q.mu.Unlock()
	n, err := at(p, offset)
	q.mu.Lock()
	*position += int64(n)
	q.moved.Broadcast()
	if n == len(p) { // a file may say that it has come to its end with the last of it
		err = nil
	}
	return n, err
}

// prepare makes the file, once.
func (q *queue) prepare() {
	q.given = true
	space, size, err := q.open()
	if err != nil {
		q.fail(err)
		return
	}
	q.disk = ring{space: space, size: size}
}

func (q *queue) fail(err error) {
	if q.spool.Failed != nil {
		q.spool.Failed(err)
	}
}

// Read waits until there is something.
func (q *queue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.ended != nil && !errors.Is(q.ended, io.EOF):
			return 0, q.ended
		case q.memory.held() > 0:
			return q.take(&q.memory, p)
		case q.disk.held() > 0:
			n, err := q.take(&q.disk, p)
			_, _ = q.read.Write(p[:n])
			return n, err
		case q.ended != nil:
			return 0, q.compare()
		}
		q.moved.Wait()
	}
}

func (q *queue) take(r *ring, p []byte) (int, error) {
	n, err := q.move(&r.first, r, p[:min(int64(len(p)), r.held())], r.space.ReadAt)
	if err != nil {
		return n, scratchError("read what is buffered for the storage", err)
	}
	return n, nil
}

// compare is io.EOF if everything is as it was.
func (q *queue) compare() error {
	if q.written.sum() != q.read.sum() {
		return failure.New(failure.Problem{Reason: v1beta2.ReasonScratchFailed, Message: "what was buffered for the storage has changed on the pod's " +
			"volume: its checksum differs; check the disk"})
	}
	return io.EOF
}

// end makes the reader end after the buffered data: with the error, or io.EOF if it is nil.
func (q *queue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended = err; err == nil {
		q.ended = io.EOF
	}
	q.moved.Broadcast()
}

// stop makes the writer fail with the reason why the reader has stopped.
func (q *queue) stop(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = err
	q.moved.Broadcast()
}

// close frees the disk, once writer and reader have finished, and returns how long the buffer was full.
func (q *queue) close() {
	if q.waited >= noWait && q.spool.Waited != nil {
		q.spool.Waited(q.waited)
	}
	if q.disk.space != nil {
		_ = q.disk.space.Close()
	}
}

// openFile makes a file, and says how long it may become.
func (q *queue) openFile() (disk, int64, error) {
	room, err := q.spool.room()
	if err != nil {
		return nil, 0, fmt.Errorf("look at the disk: %w", err)
	}
	if room <= 0 {
		return nil, 0, fmt.Errorf("less than 1/%d of the disk is free", spared)
	}
	file, err := os.CreateTemp(q.spool.Folder, "spool-*")
	if err != nil {
		return nil, 0, err
	}
	return passing{file}, min(q.spool.Limit, room), nil
}

// room is how many more bytes of the disk may be used, less than 0 if too many are.
func (s Spool) room() (int64, error) {
	look := s.space
	if look == nil {
		look = spaceOf
	}
	d, err := look(s.Folder)
	return d.free - d.total/spared, err
}

// passing is a file that is removed when it is closed.
type passing struct{ *os.File }

func (p passing) Close() error { return errors.Join(p.File.Close(), os.Remove(p.Name())) }

// memory is a disk that never fails.
type memory []byte

func (m memory) WriteAt(p []byte, offset int64) (int, error) { return copy(m[offset:], p), nil }
func (m memory) ReadAt(p []byte, offset int64) (int, error)  { return copy(p, m[offset:]), nil }
func (m memory) Close() error                                { return nil }
