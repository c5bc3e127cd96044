package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseCertificates(t *testing.T) {
	a, b := authority(t, "a"), authority(t, "b")
	pemA, keyA := encode(t, a)
	pemB, _ := encode(t, b)
	damaged := bytes.Replace(pemA, []byte("-----END"), []byte("-----FIN"), 1)
	for title, c := range map[string]struct {
		text []byte
		n    int
		want string
	}{
		"one":                      {pemA, 1, ""},
		"two":                      {slices.Concat(pemA, pemB), 2, ""},
		"spaces and comments":      {slices.Concat([]byte("\n subject=CN=a\n"), pemA, []byte("# b\n\n"), pemB, []byte(" \n\n")), 2, ""},
		"CRLF":                     {bytes.ReplaceAll(pemA, []byte("\n"), []byte("\r\n")), 1, ""},
		"nothing":                  {nil, 0, "is missing or empty"},
		"spaces":                   {[]byte(" \n"), 0, "is missing or empty"},
		"garbage":                  {[]byte("certificate"), 0, "is not PEM"},
		"DER":                      {a.Leaf().Raw, 0, "is not PEM"},
		"something after":          {append(slices.Clone(pemA), "x"...), 0, "after its last PEM block"},
		"cut off":                  {slices.Concat(pemA, pemB[:len(pemB)/2]), 0, "after its last PEM block"},
		"a damaged one before":     {slices.Concat(damaged, pemB), 0, "damaged PEM block before its block number 1"},
		"a damaged one in between": {slices.Concat(pemA, damaged, pemB), 0, "damaged PEM block before its block number 2"},
		"a key with it":            {slices.Concat(pemA, keyA), 0, `block of type "PRIVATE KEY"`},
		"no certificate in it":     {block("CERTIFICATE", []byte{1, 2}), 0, "certificate (number 1) that cannot be read"},
		"something in the block":   {block("CERTIFICATE", append(slices.Clone(a.Leaf().Raw), 0)), 0, "cannot be read"},
		"an oversized key":         {block("CERTIFICATE", oversized(t, 8200)), 0, "certificate (number 1) with an RSA key of 8200 bits"},
	} {
		t.Run(title, func(t *testing.T) {
			all, err := ParseCertificates(text(c.text))
			checkError(t, err, c.want)
			if len(all) != c.n {
				t.Errorf("%d certificates, want %d", len(all), c.n)
			}
		})
	}
}

// checkError wants an error that names the key of the Secret and says this; none if that is empty.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "key ")):
		t.Errorf("error %v, want one of the key that has %q", err, want)
	}
}

func TestParseAuthorities(t *testing.T) {
	a := authority(t, "a")
	leaf, _ := encode(t, issue(t, a, Request{CommonName: "leaf", Usages: server}))
	good, _ := encode(t, a)
	_, err := ParseAuthorities(text(slices.Concat(good, leaf)))
	checkError(t, err, "CA:FALSE")
	all, err := ParseAuthorities(text(good))
	if err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	most := text(bytes.Repeat(good, MaxAuthorities))
	if all, err = ParseAuthorities(most); err != nil || len(all) != MaxAuthorities {
		t.Errorf("%d authorities, %v", len(all), err)
	}
	most.PEM = append(most.PEM, good...)
	_, err = ParseAuthorities(most)
	checkError(t, err, "has 101 authorities, and may have 100")
	own := Text{PEM: bytes.Repeat(good, 501), Own: true}
	if all, err = ParseAuthorities(own); err != nil || len(all) != 501 {
		t.Errorf("the operator reads %d authorities that it has written itself, %v", len(all), err)
	}
}

// oversized is a certificate whose key takes minutes to verify signatures with if it is large enough.
func oversized(t *testing.T, bits uint) []byte {
	t.Helper()
	a := authority(t, "a")
	template, err := template(rand.Reader, Request{CommonName: "large", Now: now, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	n := new(big.Int).Lsh(big.NewInt(1), bits-1)
	der, err := x509.CreateCertificate(rand.Reader, template, a.Leaf(), &rsa.PublicKey{N: n.SetBit(n, 0, 1), E: 65537}, a.Key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// TestOwnLargeKey reads what members may trust already, up to what can be verified with in good time.
func TestOwnLargeKey(t *testing.T) {
	for bits, want := range map[uint]struct{ given, own bool }{8200: {false, true}, 16384: {false, true}, 16385: {false, false}} {
		pem := block(blockCertificate, oversized(t, bits))
		_, err := ParseCertificates(text(pem))
		_, ownErr := ParseCertificates(Text{Name: "key x", PEM: pem, Own: true})
		if (err == nil) != want.given || (ownErr == nil) != want.own {
			t.Errorf("%d bits: %v; the operator's own: %v", bits, err, ownErr)
		}
	}
}

func TestParseKey(t *testing.T) {
	ec, err1 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	weak, err2 := rsa.GenerateKey(rand.Reader, 2048)
	_, edwards, err3 := ed25519.GenerateKey(rand.Reader)
	sec1, err4 := x509.MarshalECPrivateKey(ec)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Fatal(err1, err2, err3, err4)
	}
	pkcs8 := func(key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	exchange, err := ec.ECDH()
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := x509.MarshalPKCS1PrivateKey(weak)
	encrypted := []byte("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n")
	for title, c := range map[string]struct {
		text []byte
		want string
	}{
		"EC in SEC 1":               {block("EC PRIVATE KEY", sec1), ""},
		"EC in SEC 1 after a curve": {slices.Concat(block("EC PARAMETERS", []byte{6, 1, 0}), block("EC PRIVATE KEY", sec1)), ""},
		"EC in PKCS #8":             {block("PRIVATE KEY", pkcs8(ec)), ""},
		"RSA in PKCS #1":            {block("RSA PRIVATE KEY", pkcs1), ""},
		"RSA in PKCS #8":            {block("PRIVATE KEY", pkcs8(weak)), ""},
		"Ed25519":                   {block("PRIVATE KEY", pkcs8(edwards)), ""},
		"a key for other things":    {block("PRIVATE KEY", pkcs8(exchange)), ""},
		"nothing":                   {nil, "is missing or empty"},
		"a certificate":             {block("CERTIFICATE", []byte{1}), `block of type "CERTIFICATE"`},
		"two keys":                  {slices.Concat(block("EC PRIVATE KEY", sec1), block("EC PRIVATE KEY", sec1)), "has 2 PEM blocks"},
		"encrypted in PKCS #8":      {block("ENCRYPTED PRIVATE KEY", []byte{1}), "is encrypted"},
		"encrypted in PKCS #1":      {encrypted, "is encrypted"},
		"the wrong type":            {block("RSA PRIVATE KEY", sec1), "cannot be read as RSA PRIVATE KEY"},
		"garbage":                   {block("PRIVATE KEY", []byte("garbage")), "cannot be read as PRIVATE KEY"},
	} {
		t.Run(title, func(t *testing.T) {
			key, err := keyOf(text(c.text))
			checkError(t, err, c.want)
			if (key == nil) == (c.want == "") {
				t.Errorf("key %T", key)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	a := authority(f, "a")
	certificate, key := encode(f, a)
	f.Add(certificate, key)
	f.Add(slices.Concat(certificate, certificate), []byte("-----BEGIN EC PARAMETERS-----\n-----END EC PARAMETERS-----\n"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"), []byte("\xff\x00"))
	f.Fuzz(func(t *testing.T, certificate, key []byte) {
		all, err := ParseCertificates(text(certificate))
		if err != nil && len(all) > 0 || err == nil && len(all) == 0 {
			t.Errorf("%d certificates, %v", len(all), err)
		}
		if err == nil {
			again, err := ParseCertificates(text(Encode(all)))
			if err != nil || len(again) != len(all) {
				t.Errorf("%d certificates of %d, %v", len(again), len(all), err)
			}
			for i, c := range all {
				_, _ = Subject(c), CheckWindow(text(nil), c, now)
				if Fingerprint(c) != Fingerprint(again[i]) {
					t.Error("the order changes")
				}
			}
		}
		_, _ = ParseAuthorities(text(certificate))
		if pair, err := ParsePair(text(certificate), Text{Name: "key peer.key", PEM: key}); err == nil {
			if _, _, err := pair.Encode(); err != nil {
				t.Error(err)
			}
			_ = CheckNames(text(nil), pair.Leaf(), []string{"localhost", "::1"})
			_ = Verifies(pair.Chain, pair.Leaf(), now)
		}
	})
}
