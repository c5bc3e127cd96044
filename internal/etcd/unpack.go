package etcd

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

const (
	// packedLimit is the most that is received of a compressed answer, in bytes: etcd's metrics are some 12 KB. All of it is kept in memory until it
	// is unpacked, and hundreds of members may answer at the same time.
	packedLimit = 64 << 10
	// unpacking is how many answers are unpacked at the same time: each takes 40 KB and a processor.
	unpacking = 4
)

var (
	// buffers hold compressed answers until they are unpacked.
	buffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}
	// unpackers are the idle gzip readers.
	unpackers = newUnpackers()
)

func newUnpackers() chan *gzip.Reader {
	all := make(chan *gzip.Reader, unpacking)
	for range unpacking {
		all <- &gzip.Reader{}
	}
	return all
}

// readAnswer has the text of an answer read. A compressed one is received whole before it is unpacked, so that a slow member occupies no unpacker;
// any other is read as it arrives.
func readAnswer(ctx context.Context, response *http.Response, read func(text io.Reader) error) error {
	if response.Header.Get("Content-Encoding") != "gzip" {
		return read(io.LimitReader(response.Body, metricsLimit))
	}
	packed := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // nothing else is put there
	defer buffers.Put(packed)
	packed.Reset()
	switch n, err := packed.ReadFrom(io.LimitReader(response.Body, packedLimit+1)); {
	case err != nil:
		return err
	case n > packedLimit:
		return fmt.Errorf("the response is larger than %d bytes", packedLimit)
	}
	select {
	case unpacker := <-unpackers:
		defer func() { unpackers <- unpacker }()
		if err := unpacker.Reset(packed); err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		return read(io.LimitReader(unpacker, metricsLimit))
	case <-ctx.Done():
		return ctx.Err()
	}
}
