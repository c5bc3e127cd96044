package blobstore_test

import (
	"context"
	"io"
	"net"
	"testing"
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
