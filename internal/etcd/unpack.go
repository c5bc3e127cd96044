package etcd

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

const (
	// receivedLimit is the most that is read of a member's metrics, before decompression. etcd sends about 12 KB compressed by gzip, and would send
	// 200 KB uncompressed.
	receivedLimit = 1 << 20
	// unpacking is the maximum number of concurrent decompressions, each of which takes 40 KB and a CPU. Hundreds of responses may be on their way at
	// the same time.
	unpacking = 4
)

var (
	// received pools buffers for responses.
	received = sync.Pool{New: func() any { return &bytes.Buffer{} }}
	// unpackers holds the idle gzip readers.
	unpackers = newUnpackers()
)

func newUnpackers() chan *gzip.Reader {
	all := make(chan *gzip.Reader, unpacking)
	for range unpacking {
		all <- &gzip.Reader{}
	}
	return all
}

// readAnswer receives the whole response before it has its text read, so that a slow member does not occupy a gzip reader.
func readAnswer(ctx context.Context, response *http.Response, read func(text io.Reader) error) error {
	room := received.Get().(*bytes.Buffer) //nolint:forcetypeassert // nothing else is put there
	defer received.Put(room)
	room.Reset()
	switch n, err := room.ReadFrom(io.LimitReader(response.Body, receivedLimit+1)); {
	case err != nil:
		return err
	case n > receivedLimit:
		return errors.New("the response is larger than etcd's metrics")
	case response.Header.Get("Content-Encoding") != "gzip":
		return read(room)
	}
	select {
	case unpacker := <-unpackers:
		defer func() { unpackers <- unpacker }()
		if err := unpacker.Reset(room); err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		return read(io.LimitReader(unpacker, metricsLimit))
	case <-ctx.Done():
		return ctx.Err()
	}
}
