package agent

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// stall passes connections to an etcd until it has sent this many bytes. Then reached is closed, and nothing moves.
func stall(t testing.TB, endpoint string, limit int64) (address string, reached chan struct{}) {
	t.Helper()
	listen := net.ListenConfig{}
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		open = []io.Closer{l}
	)
	reached = make(chan struct{})
	pass := &meter{limit: limit, reached: reached}
	wg.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			dialer := net.Dialer{}
			to, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", strings.TrimPrefix(endpoint, "http://"))
			if err != nil {
				_ = from.Close()
				return
			}
			mu.Lock()
			open = append(open, from, to)
			mu.Unlock()
			wg.Go(func() { _, _ = io.Copy(to, from); _ = to.Close() })
			wg.Go(func() { _, _ = io.Copy(from, io.TeeReader(to, pass)); _ = from.Close() })
		}
	})
	t.Cleanup(func() {
		pass.end()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return "http://" + l.Addr().String(), reached
}

// meter lets bytes pass up to a limit.
type meter struct {
	limit   int64
	reached chan struct{}

	mu    sync.Mutex
	bytes int64
	over  chan struct{}
}

func (m *meter) ended() chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over == nil {
		m.over = make(chan struct{})
	}
	return m.over
}

func (m *meter) end() { close(m.ended()) }

func (m *meter) Write(p []byte) (int, error) {
	m.mu.Lock()
	before := m.bytes
	m.bytes += int64(len(p))
	after := m.bytes
	m.mu.Unlock()
	if after < m.limit {
		return len(p), nil
	}
	if before < m.limit {
		close(m.reached)
	}
	<-m.ended()
	return 0, io.ErrClosedPipe
}
