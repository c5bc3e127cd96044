package blobstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"time"
)

// answerTimeout is how long a service may think about a request that it has received whole.
const answerTimeout = time.Minute

// spare is how many connections to a service are kept for the next request: as many as there are manifests that are read at
// the same time, and some. By default the libraries make most of them anew each time, with a handshake.
const spare = 32

// trust makes a transport believe the target's authorities, beside the system's.
func trust(tr *http.Transport, t Target) error {
	tr.ResponseHeaderTimeout, tr.MaxIdleConnsPerHost = answerTimeout, spare
	if t.ServerName != "" {
		tr.DialTLSContext = dialAs(tr, t)
	}
	if len(t.CA) == 0 {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // an image without any
	}
	if !pool.AppendCertsFromPEM(t.CA) {
		return misconfigured("the storage's ca.crt holds no certificate in PEM")
	}
	tr.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return nil
}

// dialAs connects to the endpoint by TLS as to the server of that name, and to everybody else as to whom they are: the same transport fetches
// credentials.
func dialAs(tr *http.Transport, t Target) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if tr.TLSClientConfig != nil {
			config = tr.TLSClientConfig.Clone()
		}
		config.NextProtos = nil // what is spoken on such a connection is HTTP/1.1
		if endpoint, err := url.Parse(t.Endpoint); err == nil && address == hostPort(endpoint) {
			config.ServerName = t.ServerName
		}
		return (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
	}
}

// hostPort is what is connected to for a URL by TLS.
func hostPort(u *url.URL) string { return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")) }

// transport is for the services whose client libraries bring none.
func transport(t Target) (*http.Transport, error) {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	return tr, trust(tr, t)
}
