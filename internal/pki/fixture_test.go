package pki

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"
)

var (
	now    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	server = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
)

func authority(t testing.TB, name string) *Pair {
	t.Helper()
	p, err := NewAuthority(rand.Reader, name, now, 10*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func issue(t testing.TB, by *Pair, r Request) *Pair {
	t.Helper()
	if r.Now.IsZero() {
		r.Now = now
	}
	if r.Lifetime == 0 {
		r.Lifetime = time.Hour
	}
	p, err := Issue(rand.Reader, by, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t testing.TB, p *Pair) (certificate, key []byte) {
	t.Helper()
	certificate, key, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func text(data []byte) Text { return Text{Name: "key peer.crt of Secret s", PEM: data} }
