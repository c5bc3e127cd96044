package main

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// issue writes one certificate for all into dir, under the names that members' Secrets have, and returns what clients connect with.
func issue(dir string) (*tls.Config, error) {
	now := time.Now()
	authority, err := pki.NewAuthority(rand.Reader, "bench", now, time.Hour)
	if err != nil {
		return nil, err
	}
	leaf, err := pki.Issue(rand.Reader, authority, pki.Request{
		CommonName: "bench", Names: []string{"localhost"}, Now: now, Lifetime: time.Hour,
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	certificate, key, err := leaf.Encode()
	if err != nil {
		return nil, err
	}
	for _, side := range []string{"peer", "server"} {
		for name, content := range map[string][]byte{".crt": certificate, ".key": key, "-ca.crt": pki.Encode(authority.Chain)} {
			if err := os.WriteFile(filepath.Join(dir, side+name), content, 0o600); err != nil {
				return nil, err
			}
		}
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf())
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: roots}, nil
}
