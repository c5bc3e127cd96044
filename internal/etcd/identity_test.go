package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
)

func TestNameIn(t *testing.T) {
	t.Parallel()
	tests := []struct{ peerURL, want string }{
		{"http://a-0.a.default.svc:2380", "a-0"},
		{"https://a-10.a.default.svc.cluster.local:2380", "a-10"},
		{"http://1st-0.1st.default.svc:2380", "1st-0"},
		{"http://localhost:2380", "localhost"},
		{"http://10.0.0.1:2380", "own"},
		{"http://[fd00::1]:2380", "own"},
		{"unix://", "own"},
		{":", "own"},
	}
	for _, test := range tests {
		if got := nameIn(test.peerURL, "own"); got != test.want {
			t.Errorf("%s: %q, want %q", test.peerURL, got, test.want)
		}
	}
}

func TestSameIdentity(t *testing.T) {
	t.Parallel()
	config := func(certificate string) *tls.Config {
		return &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool(),
			Certificates: []tls.Certificate{{Certificate: [][]byte{[]byte(certificate)}}},
		}
	}
	otherRoots := config("a")
	otherRoots.RootCAs.AddCert(&x509.Certificate{Raw: []byte("ca")})
	tests := []struct {
		name string
		a, b *tls.Config
		want bool
	}{
		{"no TLS", nil, nil, true},
		{"TLS added", nil, config("a"), false},
		{"TLS removed", config("a"), nil, false},
		{"read again", config("a"), config("a"), true},
		{"new certificate", config("a"), config("b"), false},
		{"new authority", config("a"), otherRoots, false},
	}
	for _, test := range tests {
		if got := sameIdentity(test.a, test.b); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
