package blobstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
)

// newCutter passes connections on to the address until so many bytes have gone there, and then refuses all.
func newCutter(t *testing.T, address string, limit int64) net.Listener {
	t.Helper()
	config := net.ListenConfig{}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	budget := &io.LimitedReader{N: limit}
	connections := make(chan net.Conn)
	go func() {
		defer close(connections)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections <- c
		}
	}()
	go func() {
		for c := range connections { // one at a time
			pass(t.Context(), c, address, budget)
			if budget.N == 0 {
				_ = l.Close()
			}
		}
	}()
	return l
}

func pass(ctx context.Context, c net.Conn, address string, budget *io.LimitedReader) {
	defer func() { _ = c.Close() }()
	dialer := net.Dialer{}
	server, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() { _, _ = io.Copy(c, server) }()
	budget.R = c
	_, _ = io.Copy(server, budget)
}

// breaker passes connections on to an address, and resets each after so many bytes have come back over it.
type breaker struct {
	net.Listener
	broken atomic.Int64

	mu   sync.Mutex
	open []net.Conn
}

// cut resets all connections that are there now.
func (b *breaker) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.open {
		_ = c.Close()
	}
}

func newBreaker(t *testing.T, address string, after int64) *breaker {
	t.Helper()
	config := net.ListenConfig{}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &breaker{Listener: l}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { b.pass(t.Context(), c, address, after) })
		}
	})
	return b
}

func (b *breaker) pass(ctx context.Context, c net.Conn, address string, after int64) {
	dialer := net.Dialer{}
	server, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		_ = c.Close()
		return
	}
	b.mu.Lock()
	b.open = append(b.open, c, server)
	b.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = c.Close(); _ = server.Close() })
	defer stop()
	go func() { _, _ = io.Copy(server, c); _ = server.Close() }()
	if _, err := io.CopyN(c, server, after); err == nil {
		b.broken.Add(1)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	_ = c.Close()
	_ = server.Close()
}

// testResumes reads an object over connections that break, and one that is overwritten meanwhile.
func testResumes(t *testing.T, target blobstore.Target, c blobstore.Credentials) {
	t.Helper()
	const size = 24 << 20
	content := make([]byte, size)
	_, _ = rand.Read(content)
	direct := open(t, target, c)
	if err := write(direct, "resumed", bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(target.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	breaks := newBreaker(t, u.Host, size/3)
	u.Host = breaks.Addr().String()
	target.Endpoint = u.String()
	b := open(t, target, c)
	if got, err := b.Read(t.Context(), "resumed", size); err != nil || !bytes.Equal(got, content) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if n := breaks.broken.Load(); n < 3 {
		t.Errorf("only %d connections broke", n)
	}
	r, err := b.Open(t.Context(), "resumed")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	breaks.cut() // MinIO lets no one write while it sends
	content[0] ^= 1
	if err := write(direct, "resumed", bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, r); reasonOf(err) != v1beta2.ReasonObjectChanged {
		t.Errorf("written over: read %d bytes, %v", n, err)
	}
}
