package certificates

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// TestIssuedForKnownKey has the issuer sign an authority for the key of an application's certificate, or of a member's, as it does if
// somebody has the Certificate name that Secret: neither side takes it, and a certificate that the operator has not issued keeps none away.
func TestIssuedForKnownKey(t *testing.T) {
	for title, one := range map[string]struct {
		certificate, key func(c *cluster) []byte
		peer             bool
	}{
		"an application's, for peers": {
			peer:        true,
			certificate: func(c *cluster) []byte { return c.o.Client[KeyCertificate] }, key: func(c *cluster) []byte { return c.o.Client[KeyKey] },
		},
		"a member's, for clients": {
			certificate: func(c *cluster) []byte { return c.o.Published["db-0"][KeyPeerCertificate] },
			key:         func(c *cluster) []byte { return c.o.Published["db-0"][KeyPeerKey] },
		},
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0")
			c.o.Managed.Issued = issued(c, year)
			if d := c.run(); !d.Settled {
				t.Fatalf("it does not start: %+v", d)
			}
			before := bytes.Clone(c.o.Authority["peer.crt"])
			beforeServer := bytes.Clone(c.o.Authority["server.crt"])
			stolen := authorityOf(c, one.certificate(c), one.key(c))
			side := &c.o.Managed.Issued.Server
			if one.peer {
				side = &c.o.Managed.Issued.Peer
			}
			side.Data, side.Signed = stolen, [][]byte{stolen[KeyCertificate]}
			d := c.carryOut()
			if d.Problem == nil || !strings.Contains(d.Problem.Message, "has the key of a certificate of this cluster") {
				t.Errorf("it says %+v", d.Problem)
			}
			if !bytes.Equal(before, c.o.Authority["peer.crt"]) || !bytes.Equal(beforeServer, c.o.Authority["server.crt"]) {
				t.Error("it is taken")
			}
		})
	}
	c := managed(t, "db-0")
	c.o.Managed.Issued = issued(c, year)
	c.run()
	next := issued(c, year)
	c.o.Client[KeyCertificate] = next.Peer.Data[KeyCertificate]
	if c.o.given(parse(t, next.Peer.Data[KeyCertificate])[0]) {
		t.Error("what somebody has put into a Secret keeps an authority away")
	}
}

// authorityOf is one with the key of a certificate, which somebody else has signed.
func authorityOf(c *cluster, certificate, key []byte) map[string][]byte {
	c.t.Helper()
	pair, err := pki.ParsePair(pki.Text{PEM: certificate}, pki.Text{PEM: key})
	if err != nil {
		c.t.Fatal(err)
	}
	raw, err := x509.CreateCertificate(rand.Reader, authority(c), authority(c), pair.Leaf().PublicKey, pair.Key)
	if err != nil {
		c.t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		c.t.Fatal(err)
	}
	return map[string][]byte{KeyCertificate: pki.Encode([]*x509.Certificate{made}), KeyKey: key}
}

func authority(c *cluster) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "house"}, NotBefore: c.o.Now.Add(-time.Hour), NotAfter: c.o.Now.Add(year),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
}
