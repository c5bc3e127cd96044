package stories

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// wire is a port of this machine that leads to a server, and that can hold what goes one way. Pods reach it as they reach
// the lab's addons.
type wire struct {
	address string
	dial    dialer
	// answers is true if what the server says is held, not what it is told.
	answers bool

	mu sync.Mutex
	// left is how many bytes may pass yet, until opened is closed; held is closed once some wait.
	left         int64
	opened, held chan struct{}
}

type dialer func(context.Context) (net.Conn, error)

// wire begins to listen, until the test ends.
func (s *story) wire(dial dialer, answers bool) *wire {
	s.t.Helper()
	ctx := s.t.Context()
	conn, err := dial(ctx)
	must(s.t, err)
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	must(s.t, errors.Join(err, conn.Close()))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	must(s.t, err)
	context.AfterFunc(ctx, func() { _ = l.Close() })
	w := &wire{address: l.Addr().String(), dial: dial, answers: answers, held: make(chan struct{}), opened: make(chan struct{})}
	w.open()
	go w.serve(ctx, l)
	return w
}

// hold lets so many bytes more through, over all connections.
func (w *wire) hold(after int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.held, w.opened = after, make(chan struct{}), make(chan struct{})
}

// open lets everything through again.
func (w *wire) open() { close(w.opened) }

// holds holds once bytes wait.
func (w *wire) holds(context.Context) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.held:
		return "", true
	default:
		return "bytes may pass", false
	}
}

func (w *wire) serve(ctx context.Context, l net.Listener) {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		go w.join(ctx, near)
	}
}

// join copies both ways until one end is closed.
func (w *wire) join(ctx context.Context, near net.Conn) {
	far, err := w.dial(ctx)
	if err != nil {
		_ = near.Close()
		return
	}
	end := func() { _, _ = near.Close(), far.Close() }
	defer context.AfterFunc(ctx, end)()
	defer end()
	from, to := near, far
	if w.answers {
		from, to = far, near
	}
	go func() {
		defer end()
		_, _ = io.Copy(from, to)
	}()
	_, _ = io.Copy(to, gate{ctx, w, from})
}

// gate is the end of a wire that bytes come from which are counted.
type gate struct {
	ctx  context.Context
	wire *wire
	from io.Reader
}

func (g gate) Read(p []byte) (int, error) {
	n, err := g.from.Read(p)
	select {
	case <-g.wire.pass(n):
	case <-g.ctx.Done():
	}
	return n, err
}

// pass returns what is closed once so many bytes may pass.
func (w *wire) pass(bytes int) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left -= int64(bytes); w.left >= 0 {
		through := make(chan struct{})
		close(through)
		return through
	}
	select {
	case <-w.held:
	default:
		close(w.held)
	}
	return w.opened
}

// plainMinIO is minio over a wire, which adds TLS: no one needs its certificate.
func (s *story) plainMinIO() (*wire, *v1beta2.Storage) {
	s.t.Helper()
	storage := s.minio()
	addon := s.addon(lab.MinIO)
	service, err := url.Parse(addon.URL)
	must(s.t, err)
	web, err := addon.Client()
	must(s.t, err)
	transport, ok := web.Transport.(*http.Transport)
	if !ok {
		s.t.Fatalf("the addon's client has the transport %T", web.Transport)
	}
	config := transport.TLSClientConfig.Clone()
	config.ServerName = service.Hostname()
	w := s.wire(func(ctx context.Context) (net.Conn, error) {
		conn, err := transport.DialContext(ctx, "tcp", service.Host)
		if err != nil {
			return nil, err
		}
		return tls.Client(conn, config), nil
	}, false)
	storage.Endpoint, storage.CABundleRef = "http://"+w.address, v1beta2.CABundleRef{}
	return w, storage
}

// wireFrom is a wire to a member that can hold its answers.
func (s *story) wireFrom(pod corev1.Pod) *wire {
	s.t.Helper()
	return s.wire(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(pod.Status.PodIP, "2379"))
	}, true)
}

// holding takes a backup and waits until half of it is held by the wire.
func (s *story) holding(w *wire, name string, storage *v1beta2.Storage, change func(*v1beta2.EtcdBackupSpec)) {
	s.t.Helper()
	w.hold(uploadSize / 2)
	s.backup(name, storage, func(spec *v1beta2.EtcdBackupSpec) {
		spec.Compression = v1beta2.CompressionNone
		change(spec)
	})
	must(s.t, harness.Await(s.t.Context(), "half of the snapshot has passed", limit, w.holds))
}
