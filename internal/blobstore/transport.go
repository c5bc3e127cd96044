package blobstore

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
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
		tr.TLSClientConfig = &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
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
	tr.TLSClientConfig = &tls.Config{RootCAs: pool, ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	return nil
}

// transport is for the services whose client libraries bring none.
func transport(t Target) (*http.Transport, error) {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	return tr, trust(tr, t)
}
