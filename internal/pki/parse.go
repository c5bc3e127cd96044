package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Text is the value of one key of a Secret.
type Text struct {
	// Name is how errors call it, for example "key peer.crt of Secret peers".
	Name string
	PEM  []byte
	// Own is whether the operator has written it. It may then hold more than MaxAuthorities, because it is what several sources gave, and
	// larger RSA keys, because it may be in use since before keys were limited.
	Own bool
}

func (t Text) errorf(format string, arguments ...any) error {
	return fmt.Errorf("%s "+format, append([]any{t.Name}, arguments...)...)
}

func (t Text) maxRSA() int {
	if t.Own {
		return maxOwnRSA
	}
	return maxRSA
}

// Types of PEM blocks.
const (
	blockCertificate = "CERTIFICATE"
	blockParameters  = "EC PARAMETERS"
	blockPKCS8       = "PRIVATE KEY"
	blockPKCS1       = "RSA PRIVATE KEY"
	blockSEC1        = "EC PRIVATE KEY"
)

// What users may give in one key. More is an error, because each certificate costs time whenever another one is verified, and members'
// trust is what all sources gave until an authority is replaced, in a Secret of 1 MiB.
const (
	// MaxAuthorities is how many authorities a bundle may hold.
	MaxAuthorities = 100
	// MaxIntermediates is how many certificates may follow the first one of a chain.
	MaxIntermediates = 10
)

const (
	// maxRSA is how many bits an RSA key may have: crypto/tls, which etcd uses, refuses larger ones.
	maxRSA = 8192
	// maxOwnRSA is how many bits one may have in what is in use already. An authority at the end of a chain is never sent, so crypto/tls
	// does not see it. OpenSSL takes no larger ones (OPENSSL_RSA_MAX_MODULUS_BITS), and one may take minutes to verify a signature with.
	maxOwnRSA = 16384
	// maxKey is how many bytes a private key may have: one of maxRSA has 4700.
	maxKey = 16 << 10
)

// beginning is that of every block. Where a decoder skips one, it was damaged.
var beginning = []byte("-----BEGIN")

// blocks are the PEM blocks of a text. There may be comments before each block, as openssl writes them, but nothing after the last
// one: what a decoder skips silently may be a certificate that was cut off.
func blocks(t Text) ([]*pem.Block, error) {
	rest := bytes.TrimSpace(t.PEM)
	if len(rest) == 0 {
		return nil, t.errorf("is missing or empty: add it")
	}
	var all []*pem.Block
	for len(rest) > 0 {
		block, after := pem.Decode(rest)
		switch {
		case block == nil && len(all) == 0:
			return nil, t.errorf("is not PEM: it has to hold blocks that begin with -----BEGIN and are whole")
		case block == nil:
			return nil, t.errorf("has something after its last PEM block, or a damaged block: remove or correct it")
		case bytes.Count(rest[:len(rest)-len(after)], beginning) != 1:
			return nil, t.errorf("has a damaged PEM block before its block number %d: correct it", len(all)+1)
		}
		all, rest = append(all, block), bytes.TrimSpace(after)
	}
	return all, nil
}

// ParseCertificates reads one certificate or more. Any other block is an error: etcd would not start with it.
func ParseCertificates(t Text) ([]*x509.Certificate, error) {
	all, err := blocks(t)
	if err != nil {
		return nil, err
	}
	var certificates []*x509.Certificate
	for i, block := range all {
		if block.Type != blockCertificate {
			return nil, t.errorf("has a block of type %.40q: it may hold blocks of type CERTIFICATE only", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, t.errorf("has a certificate (number %d) that cannot be read: %s: replace it", i+1, why(err))
		}
		if key, ok := certificate.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > t.maxRSA() {
			return nil, t.errorf("has a certificate (number %d) with an RSA key of %d bits, and may have one of %d: issue it with a smaller key",
				i+1, key.N.BitLen(), t.maxRSA())
		}
		certificates = append(certificates, certificate)
	}
	return certificates, nil
}

// ParseAuthorities reads the certificates of authorities. One that may not sign certificates is an error, and so are more than
// MaxAuthorities unless they are the operator's own.
func ParseAuthorities(t Text) ([]*x509.Certificate, error) {
	all, err := ParseCertificates(t)
	if err != nil {
		return nil, err
	}
	if len(all) > MaxAuthorities && !t.Own {
		return nil, t.errorf("has %d authorities, and may have %d: keep those that have issued the certificates in use", len(all), MaxAuthorities)
	}
	for _, c := range all {
		switch {
		case !c.IsCA || !c.BasicConstraintsValid:
			return nil, t.errorf("has the certificate of %s, which is no authority (CA:FALSE): give that of the authority which signed it", Subject(c))
		case c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0:
			return nil, t.errorf("has the authority %s, whose key usage does not include signing certificates: issue it with keyCertSign", Subject(c))
		}
	}
	return all, nil
}

// keyOf reads a private key: RSA, ECDSA or Ed25519, in PKCS #8, PKCS #1 or SEC 1, not encrypted.
func keyOf(t Text) (crypto.Signer, error) {
	all, err := blocks(t)
	if err != nil {
		return nil, err
	}
	if len(all) == 2 && all[0].Type == blockParameters { // of openssl ecparam -genkey
		all = all[1:]
	}
	if len(all) != 1 {
		return nil, t.errorf("has %d PEM blocks: it has to hold the private key and nothing else", len(all))
	}
	if _, encrypted := all[0].Headers["DEK-Info"]; encrypted || strings.HasPrefix(all[0].Type, "ENCRYPTED") {
		return nil, t.errorf("is encrypted: store the key without a passphrase, for example the output of openssl pkey")
	}
	return parseKey(t, all[0])
}

func parseKey(t Text, block *pem.Block) (crypto.Signer, error) {
	if len(block.Bytes) > maxKey {
		return nil, t.errorf("is longer than an RSA key of %d bits, which is the largest that etcd takes: use a smaller one", maxRSA)
	}
	var key any
	var err error
	switch block.Type {
	case blockPKCS8:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case blockPKCS1:
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case blockSEC1:
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		return nil, t.errorf("has a block of type %.40q: it has to hold a PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY", block.Type)
	}
	if err != nil { // What is wrong might tell something about the key.
		return nil, t.errorf("cannot be read as %s: replace it by the key that the certificate was made for", block.Type)
	}
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return k, nil
	case *ecdsa.PrivateKey:
		return k, nil
	case ed25519.PrivateKey:
		return k, nil
	}
	return nil, t.errorf("has a key of a kind that TLS does not use: use RSA, ECDSA or Ed25519")
}

// Encode writes certificates as PEM, without anything around them.
func Encode(certificates []*x509.Certificate) []byte {
	var out []byte
	for _, c := range certificates {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: blockCertificate, Bytes: c.Raw})...)
	}
	return out
}

// Fingerprint is the SHA-256 of a certificate, in hexadecimal.
func Fingerprint(c *x509.Certificate) string { return fingerprintOf(c.Raw) }

// fingerprintOf is the fingerprint of a certificate in DER.
func fingerprintOf(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// Subject is how messages call a certificate: its subject, cut to a length for people, or its serial number if that is empty.
func Subject(c *x509.Certificate) string {
	if name := c.Subject.String(); name != "" {
		return fmt.Sprintf("%q", cut(name))
	}
	return "serial number " + serial(c)
}

// Issuer is the name of a certificate's issuer, cut in the same way.
func Issuer(c *x509.Certificate) string { return cut(c.Issuer.String()) }

// cut shortens what a certificate says, which may be of any length, for messages and status.
func cut(text string) string {
	const most = 100
	return failure.Cut(text, most)
}

// serial is a certificate's serial number, in hexadecimal.
func serial(c *x509.Certificate) string { return fmt.Sprintf("%x", c.SerialNumber) }
