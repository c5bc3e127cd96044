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
	// receivedLimit is how many bytes of a member's metrics are received: 12 KB of etcd's, as it compresses them, and 200 KB if it did not.
	receivedLimit = 1 << 20
	// unpacking is how many answers are unpacked at the same time. That takes 40 KB each and a processor, while hundreds of members may be waited
	// for at the same time.
	unpacking = 4
)

var (
	// received has room for answers that are on their way.
	received = sync.Pool{New: func() any { return &bytes.Buffer{} }}
	// unpackers are those at rest.
	unpackers = newUnpackers()
)

func newUnpackers() chan *gzip.Reader {
	all := make(chan *gzip.Reader, unpacking)
	for range unpacking {
		all <- &gzip.Reader{}
	}
	return all
}

// readAnswer receives all of an answer, and has its text read then: whoever answers slowly keeps no unpacker from the others.
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
