package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// servedTimeout is how long Served may take. It is long enough for a member that is busy, and short enough for a pass that asks two ports
// of every member.
const servedTimeout = 3 * time.Second

// Served returns the fingerprint of the certificate that the server at an address (ip:port) presents, as pki.Fingerprint writes
// it. The server proves that it has the key. Nothing else is verified, no certificate is presented, and nothing is sent after the
// handshake: so it tells which leaf a member has loaded even where neither side would accept the other. An error means that it is not
// known.
func Served(ctx context.Context, address string) (fingerprint string, err error) {
	ctx, cancel := context.WithTimeout(ctx, servedTimeout)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{
		// In TLS 1.3 the client has finished before the server can miss its certificate.
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // what is presented is looked at, not trusted
	}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return "", fmt.Errorf("ask %s which certificate it serves: %w", address, err)
	}
	defer func() { _ = conn.Close() }()
	secured, ok := conn.(*tls.Conn)
	if !ok || len(secured.ConnectionState().PeerCertificates) == 0 {
		return "", errors.New("ask " + address + " which certificate it serves: it sent none")
	}
	return pki.Fingerprint(secured.ConnectionState().PeerCertificates[0]), nil
}
