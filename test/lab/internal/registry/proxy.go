package registry

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
)

// authorityName is what the authority of a folder is called in it.
const authorityName = "ca"

// ProxyEnvironment makes a program of this machine find every image where the nodes find it: in the lab's registry,
// which an authority in a folder vouches for. Such a program reaches no other server with TLS but the cluster's.
func ProxyEnvironment(folder string) (map[string]string, error) {
	authority, err := pki.Ensure(folder)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"HTTPS_PROXY": "http://" + Address, "NO_PROXY": network.HostIP, "SSL_CERT_FILE": authority.Cert(authorityName),
	}, nil
}

// proxy answers what it is asked for by CONNECT itself, in the place of the registry that was meant, and passes all
// else on.
type proxy struct {
	inside    *http.Server
	taken     *handedOver
	plain     http.Handler
	lock      sync.Mutex
	authority *pki.Authority
}

func newProxy(folder string, handler http.Handler, logger *log.Logger) (*proxy, error) {
	authority, err := pki.Ensure(folder)
	if err != nil {
		return nil, err
	}
	p := &proxy{
		taken: &handedOver{conns: make(chan net.Conn), closed: make(chan struct{})}, plain: handler, authority: authority,
	}
	p.inside = &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ErrorLog: logger,
		TLSConfig: &tls.Config{GetCertificate: p.certificate, MinVersion: tls.VersionTLS12},
	}
	return p, nil
}

// serve answers inside the tunnels, until close.
func (p *proxy) serve() {
	if err := p.inside.ServeTLS(p.taken, "", ""); !errors.Is(err, http.ErrServerClosed) {
		p.inside.ErrorLog.Printf("serve inside tunnels: %v", err)
	}
}

func (p *proxy) close() { _ = p.inside.Close() }

// ServeHTTP opens a tunnel, or passes the request on.
func (p *proxy) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodConnect {
		p.plain.ServeHTTP(writer, request)
		return
	}
	conn, _, err := http.NewResponseController(writer).Hijack()
	if err != nil {
		http.Error(writer, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	p.taken.hand(conn)
}

// certificate is for the registry that the client believes to speak to.
func (p *proxy) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	// It becomes the name of a file.
	if _, err := name.NewRegistry(hello.ServerName, name.StrictValidation); err != nil {
		return nil, fmt.Errorf("vouch for %q: %w", hello.ServerName, err)
	}
	host := "host-" + hello.ServerName
	p.lock.Lock()
	defer p.lock.Unlock()
	subject := pki.Subject{CommonName: "registry", Hosts: []string{hello.ServerName}}
	if err := p.authority.EnsureCert(host, subject); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(p.authority.Cert(host), p.authority.Key(host))
	if err != nil {
		return nil, fmt.Errorf("vouch for %s: %w", hello.ServerName, err)
	}
	return &pair, nil
}

// handedOver is a listener of connections that were accepted elsewhere.
type handedOver struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (h *handedOver) hand(conn net.Conn) {
	select {
	case h.conns <- conn:
	case <-h.closed:
		_ = conn.Close()
	}
}

// Accept returns the next connection that was handed over.
func (h *handedOver) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (h *handedOver) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr has no meaning here: no one connects to it.
func (h *handedOver) Addr() net.Addr { return &net.TCPAddr{} }
