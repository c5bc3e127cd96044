package memberrun

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// certificates are the mounted files of a member.
type certificates struct {
	paths  Paths
	config *member.Config
}

// check refuses files that etcd would end with, or that would have it serve nobody. What is out of date is let through: etcd reads a
// certificate at every handshake, so that it serves as soon as another one is published, without a restart.
func (c certificates) check() error {
	for _, side := range c.config.Transport.Sides() {
		if _, err := c.pair(side); err != nil {
			return c.refuse(err, member.CertificatesDir, fmt.Sprintf(
				"the operator publishes a pair that fits in the Secret %s-tls once that which spec.tls names is correct", c.config.Name))
		}
		if _, err := c.authorities(side); err != nil {
			return c.refuse(err, member.TrustDir,
				"the operator makes the pod anew with other authorities once those which spec.tls names are correct")
		}
	}
	return nil
}

func (c certificates) refuse(err error, dir, fix string) error {
	return &member.Refusal{
		Reason: member.BadCertificates, Message: fmt.Sprintf("%s, which the pod mounts at %s: %s", err, dir, fix),
	}
}

// pair is the certificate and key of one side, read anew.
func (c certificates) pair(side member.Side) (*tls.Certificate, error) {
	pair, err := c.read(side)
	if err != nil { // once more: the kubelet may have replaced the files between the one and the other
		pair, err = c.read(side)
	}
	return pair, err
}

func (c certificates) read(side member.Side) (*tls.Certificate, error) {
	cert, err := os.ReadFile(filepath.Join(c.paths.Certificates, side.Cert))
	if err != nil {
		return nil, unreadable(side.Cert, err)
	}
	key, err := os.ReadFile(filepath.Join(c.paths.Certificates, side.Key))
	if err != nil {
		return nil, unreadable(side.Key, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s cannot be used: %w", side.Cert, side.Key, err)
	}
	return &pair, nil
}

// authorities are those that one side trusts. etcd takes every block for a certificate, and a file without one for nobody.
func (c certificates) authorities(side member.Side) (*x509.CertPool, error) {
	text, err := os.ReadFile(filepath.Join(c.paths.Trust, side.Authorities))
	if err != nil {
		return nil, unreadable(side.Authorities, err)
	}
	pool := x509.NewCertPool()
	n := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		n++
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be used: block %d is no certificate: %w", side.Authorities, n, err)
		}
		pool.AddCert(authority)
	}
	if n == 0 {
		return nil, fmt.Errorf("%s cannot be used: it holds no certificate in PEM", side.Authorities)
	}
	return pool, nil
}

// unreadable names the file by its key, not by a path that is the same for every member.
func unreadable(file string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s cannot be read: %w", file, err)
}

// peerClient follows no redirect and uses no proxy, like the etcd that is started here. As that does for its own request to its peers, it
// presents the member's peer certificate and verifies the name in the URL.
func (c certificates) peerClient() (*http.Client, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	if c.config.Transport.ServesPeerTLS() {
		side := member.Transport{PeerTLS: true}.Sides()[0]
		authorities, err := c.authorities(side)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: authorities,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.pair(side) },
		}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
