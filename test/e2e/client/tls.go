package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// configOf reads the client's certificate and the authorities of the members for each connection anew, so that both may change while
// the client runs; it is nil without a folder. docs/tls.md shows the same.
func configOf(folder string) *tls.Config {
	if folder == "" {
		return nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
			return &pair, err
		},
		// Go reads RootCAs once. This verifies the same, by the authorities of now.
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies
		VerifyConnection: func(s tls.ConnectionState) error {
			return verify(s, filepath.Join(folder, "ca.crt"))
		},
	}
}

func verify(s tls.ConnectionState, authorities string) error {
	text, err := os.ReadFile(authorities)
	if err != nil {
		return fmt.Errorf("read the authorities: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return errors.New("no certificate is in " + authorities)
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err = s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, DNSName: s.ServerName})
	return err
}
