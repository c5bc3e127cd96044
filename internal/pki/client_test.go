package pki

import (
	"crypto/x509"
	"testing"
)

// TestClientConfig wants what a client cannot do without to be missed at once, and not by the first connection.
func TestClientConfig(t *testing.T) {
	ca := authority(t, "ca")
	certificate, key := encode(t, issue(t, ca, Request{CommonName: "client", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}))
	trust, otherKey := encode(t, ca)
	damaged := trust[:len(trust)/2]
	for title, c := range map[string]struct {
		certificate, key, authorities []byte
		fails                         bool
	}{
		"whole":                 {certificate, key, trust, false},
		"no authority":          {certificate, key, nil, true},
		"a damaged authority":   {certificate, key, damaged, true},
		"another one's key":     {certificate, otherKey, trust, true},
		"a damaged certificate": {certificate[1:], key, trust, true},
	} {
		config, err := ClientConfig(c.certificate, c.key, c.authorities)
		if (err != nil) != c.fails || !c.fails && (config.RootCAs == nil || len(config.Certificates) != 1) {
			t.Errorf("%s: %+v, %v", title, config, err)
		}
	}
}
