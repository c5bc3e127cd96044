package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// ClientConfig is by which a client presents a certificate and accepts servers of these authorities, all in PEM. Without an authority that can
// be read it is an error: such a client would say of every server that its authority is unknown, as if the server were to blame.
func ClientConfig(certificate, key, authorities []byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("read the client's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return nil, errors.New("there is no authority to trust that can be read")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: roots}, nil
}
