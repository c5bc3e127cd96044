package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"sync"
)

// trailer is how many bytes etcd appends to the database: its SHA-256. pages is what a database's size is a multiple of.
const (
	trailer = sha256.Size
	pages   = 512
)

var (
	errNoTrailer = errors.New("it does not end with etcd's checksum: it is truncated, or not an etcd snapshot")
	errTrailer   = errors.New("etcd's checksum at its end does not match: it is corrupt, or not an etcd snapshot")
)

// digest hashes a snapshot that is written to it. It holds back the last bytes, which may be the trailer.
type digest struct {
	hash hash.Hash
	held []byte
	size int64
}

func newDigest() *digest { return &digest{hash: sha256.New(), held: make([]byte, 0, 2*trailer)} }

// Write never fails.
func (d *digest) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	if len(p) >= trailer {
		d.hash.Write(d.held)
		d.hash.Write(p[:len(p)-trailer])
		d.held = append(d.held[:0], p[len(p)-trailer:]...)
		return len(p), nil
	}
	d.held = append(d.held, p...)
	if over := len(d.held) - trailer; over > 0 {
		d.hash.Write(d.held[:over])
		d.held = append(d.held[:0], d.held[over:]...)
	}
	return len(p), nil
}

// check compares the trailer, once everything was written.
func (d *digest) check() error {
	switch {
	case d.size <= trailer || d.size%pages != trailer:
		return errNoTrailer
	case !bytes.Equal(d.hash.Sum(nil), d.held):
		return errTrailer
	}
	return nil
}

// sum is the SHA-256 of all, the trailer included, in hexadecimal. Nothing can be written after it.
func (d *digest) sum() string {
	d.hash.Write(d.held)
	return hex.EncodeToString(d.hash.Sum(nil))
}

// bufferSize of copying, in bytes.
const bufferSize = 512 << 10

// pump copies until the end, and hashes in parallel: while one buffer is hashed, the other one is filled.
func pump(to io.Writer, from io.Reader, sum *digest) error {
	var hashing sync.WaitGroup
	defer hashing.Wait()
	next, other := make([]byte, bufferSize), make([]byte, bufferSize)
	for {
		n, ended := fillUp(from, next)
		part := next[:n]
		hashing.Wait()
		hashing.Go(func() { _, _ = sum.Write(part) })
		if _, err := to.Write(part); err != nil {
			return err
		}
		if errors.Is(ended, io.EOF) {
			return nil
		}
		if ended != nil {
			return ended
		}
		next, other = other, next
	}
}

// fillUp reads until the buffer is full or the reader ends. Unlike io.ReadFull it returns the reader's own error: an unexpected EOF
// of the reader is not the same as an EOF in the middle of a buffer.
func fillUp(from io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = from.Read(buffer[n:])
		n += more
	}
	return n, err
}

// meter hashes and counts what is written to it.
type meter struct {
	hash hash.Hash
	size int64
}

func newMeter() *meter { return &meter{hash: sha256.New()} }

// Write never fails.
func (m *meter) Write(p []byte) (int, error) {
	m.size += int64(len(p))
	return m.hash.Write(p)
}

func (m *meter) sum() string { return hex.EncodeToString(m.hash.Sum(nil)) }

// sumUp records sizes and checksums. Stored is nil if the object is the snapshot itself: then one checksum serves both.
func (m *Manifest) sumUp(raw *digest, stored *meter) {
	m.Size, m.SHA256 = raw.size, raw.sum()
	m.StoredSize, m.StoredSHA256 = m.Size, m.SHA256
	if stored != nil {
		m.StoredSize, m.StoredSHA256 = stored.size, stored.sum()
	}
}
