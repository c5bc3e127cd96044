package pki

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParsePair(t *testing.T) {
	a := authority(t, "a")
	certificate, key := encode(t, issue(t, a, Request{CommonName: "mine", Usages: server}))
	_, other := encode(t, issue(t, a, Request{CommonName: "other", Usages: server}))
	keyText := func(pem []byte) Text { return Text{Name: "key peer.key of Secret s", PEM: pem} }
	p, err := ParsePair(text(certificate), keyText(key))
	if err != nil || p.Leaf().Subject.CommonName != "mine" {
		t.Errorf("%v, %v", p, err)
	}
	_, err = ParsePair(text(certificate), keyText(other))
	checkError(t, err, `key peer.key of Secret s is not the private key of the first certificate in key peer.crt of Secret s, which is for "CN=mine"`)
	_, err = ParsePair(text(certificate), keyText(nil))
	checkError(t, err, "key peer.key of Secret s is missing or empty")
}

func TestIssue(t *testing.T) {
	a := authority(t, "etcd")
	made := issue(t, a, Request{
		CommonName: "m", Names: []string{"*.db.prod.svc", "127.0.0.1", "::1"}, Usages: server, Lifetime: time.Hour,
	})
	c := made.Leaf()
	if err := c.CheckSignatureFrom(a.Leaf()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"x.db.prod.svc", "127.0.0.1", "::1"} {
		if err := c.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if !c.NotBefore.Equal(now.Add(-5*time.Minute)) || !c.NotAfter.Equal(now.Add(time.Hour)) || c.IsCA || c.SerialNumber.BitLen() != 127 {
		t.Errorf("from %s to %s, CA %t, serial %s", c.NotBefore, c.NotAfter, c.IsCA, serial(c))
	}
	certificate, key := encode(t, made)
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		t.Error(err)
	}
	long := issue(t, a, Request{CommonName: strings.Repeat("é", 40), Lifetime: 1000 * time.Hour}).Leaf()
	if !long.NotAfter.Equal(a.Leaf().NotAfter) || long.Subject.CommonName != strings.Repeat("é", 32) {
		t.Errorf("it ends at %s, its authority at %s; %q", long.NotAfter, a.Leaf().NotAfter, long.Subject.CommonName)
	}
	if _, err := Issue(strings.NewReader("short"), a, Request{Now: now}); err == nil {
		t.Error("there was not enough randomness, and no error")
	}
}

// TestAuthority holds that an authority cannot be used to make another one.
func TestAuthority(t *testing.T) {
	a := authority(t, "etcd")
	c := a.Leaf()
	if !c.IsCA || c.MaxPathLen != 0 || !c.MaxPathLenZero || c.KeyUsage&x509.KeyUsageCertSign == 0 || len(c.SubjectKeyId) == 0 {
		t.Errorf("CA %t, path length %d, usage %b", c.IsCA, c.MaxPathLen, c.KeyUsage)
	}
	template, err := template(rand.Reader, Request{CommonName: "between", Now: now, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	between, err := sign(rand.Reader, template, a)
	if err != nil {
		t.Fatal(err)
	}
	leaf := issue(t, between, Request{CommonName: "leaf"})
	if Verifies(append(slices.Clone(leaf.Chain), between.Chain...), c, now) {
		t.Error("a leaf is verified through another authority")
	}
}

// TestLongChain refuses a chain with more certificates than lie between any leaf and its authority, unless it is a copy that was made before.
func TestLongChain(t *testing.T) {
	a := authority(t, "etcd")
	leaf := issue(t, a, Request{CommonName: "leaf"})
	certificate, key := encode(t, leaf)
	long := append(slices.Clone(certificate), bytes.Repeat(Encode(a.Chain), MaxIntermediates)...)
	if _, err := ParsePair(text(long), text(key)); err != nil {
		t.Error(err)
	}
	long = append(long, Encode(a.Chain)...)
	_, err := ParsePair(text(long), text(key))
	checkError(t, err, "has 11 certificates after the first one, and may have 10")
	if _, err := ParsePair(Text{PEM: long, Own: true}, text(key)); err != nil {
		t.Error(err)
	}
}

// TestIssuers finds every authority that verifies a leaf, and no namesake.
func TestIssuers(t *testing.T) {
	a, namesake := authority(t, "same"), authority(t, "same")
	leaf := issue(t, a, Request{CommonName: "leaf"})
	again := issue(t, a, Request{CommonName: "leaf"})
	template := *a.Leaf()
	template.SerialNumber = big.NewInt(7)
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, a.Leaf().PublicKey, a.Key)
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	found := Issuers(leaf.Chain, []*x509.Certificate{namesake.Leaf(), a.Leaf(), again.Leaf(), renewed}, now)
	if len(found) != 2 || !slices.Contains(found, a.Leaf()) || !slices.Contains(found, renewed) {
		t.Errorf("%d authorities verify it, want it and the one with the same key", len(found))
	}
	if found = Issuers(leaf.Chain, []*x509.Certificate{a.Leaf()}, now.Add(2*time.Hour)); len(found) != 0 {
		t.Error("it is verified after its end")
	}
}

// TestLongNames cuts what strangers have written into certificates, wherever it is shown.
func TestLongNames(t *testing.T) {
	a, namesake := stranger(t), stranger(t)
	names := []string{strings.Repeat("x", 200) + ".db", strings.Repeat("y", 5000)}
	leaf := issue(t, a, Request{Names: names, Usages: server})
	certificate, _ := encode(t, leaf)
	_, noAuthority := ParseAuthorities(text(certificate))
	ca := Text{Name: "key peer-ca.crt of Secret s"}
	for title, err := range map[string]error{
		"names":       CheckNames(text(nil), leaf.Leaf(), []string{"a.db"}),
		"window":      CheckWindow(text(nil), a.Leaf(), now.Add(20*time.Hour)),
		"chain":       CheckChain(text(nil), leaf.Chain, ca, namesake.Chain, now, x509.ExtKeyUsageServerAuth),
		"a leaf":      noAuthority,
		"no subject":  CheckWindow(text(nil), leaf.Leaf(), now.Add(20*time.Hour)),
		"its issuer":  errors.New(Issuer(leaf.Leaf())),
		"its subject": errors.New(Subject(a.Leaf())),
	} {
		const most = 1000
		if err == nil || len(err.Error()) > most {
			t.Errorf("%s: an error of %d bytes", title, len(fmt.Sprint(err)))
		}
	}
}

// stranger is an authority with a name that this package never makes.
func stranger(t *testing.T) *Pair {
	t.Helper()
	template, err := template(rand.Reader, Request{Now: now, Lifetime: 10 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	template.IsCA, template.Subject.Organization = true, []string{strings.Repeat("long ", 10000)}
	made, err := sign(rand.Reader, template, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestChecks(t *testing.T) {
	a, other := authority(t, "same"), authority(t, "same")
	leaf := issue(t, a, Request{CommonName: "m", Names: []string{"a.db", "*.x.db", "10.0.0.1"}, Usages: server})
	ca := Text{Name: "key peer-ca.crt of Secret s"}
	for title, c := range map[string]struct {
		err  error
		want string
	}{
		"valid":                    {CheckWindow(text(nil), leaf.Leaf(), now), ""},
		"valid on a late clock":    {CheckWindow(text(nil), leaf.Leaf(), now.Add(-4*time.Minute)), ""},
		"not yet valid":            {CheckWindow(text(nil), leaf.Leaf(), now.Add(-6*time.Minute)), "not valid before 2026-01-02T02:59:05Z"},
		"expired":                  {CheckWindow(text(nil), leaf.Leaf(), now.Add(2*time.Hour)), "has expired at 2026-01-02T04:04:05Z"},
		"all names":                {CheckNames(text(nil), leaf.Leaf(), []string{"a.db", "y.x.db", "10.0.0.1"}), ""},
		"a name is missing":        {CheckNames(text(nil), leaf.Leaf(), []string{"a.db", "b.db", "z.y.x.db"}), "does not stand for b.db, z.y.x.db, but for a.db, *.x.db, 10.0.0.1"},
		"good for servers":         {CheckUsages(text(nil), leaf.Leaf(), x509.ExtKeyUsageServerAuth), ""},
		"not for clients":          {CheckUsages(text(nil), leaf.Leaf(), x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth), "lacks the extended key usage clientAuth"},
		"signed":                   {CheckChain(text(nil), leaf.Chain, ca, a.Chain, now, x509.ExtKeyUsageServerAuth), ""},
		"signed by one of two":     {CheckChain(text(nil), leaf.Chain, ca, append(slices.Clone(other.Chain), a.Chain...), now, x509.ExtKeyUsageServerAuth), ""},
		"signed by a namesake":     {CheckChain(text(nil), leaf.Chain, ca, other.Chain, now, x509.ExtKeyUsageServerAuth), `is not verified by key peer-ca.crt of Secret s as serverAuth`},
		"good for anything at all": {CheckUsages(text(nil), issue(t, a, Request{}).Leaf(), x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth), ""},
	} {
		t.Run(title, func(t *testing.T) { checkError(t, c.err, c.want) })
	}
}
