package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"time"
)

// Backdate is how long before its making a certificate is valid: clocks differ.
const Backdate = 5 * time.Minute

// Request is what a certificate is to say.
type Request struct {
	// CommonName may be empty; see the function of that name.
	CommonName string
	// Names are DNS names and IP addresses.
	Names  []string
	Usages []x509.ExtKeyUsage
	// Now is when it is made, and Lifetime how long it is valid after that: at least a second, and less if its authority
	// expires before.
	Now      time.Time
	Lifetime time.Duration
}

// Issue makes a certificate with a key of its own, signed by an authority. The randomness must be fit for keys.
func Issue(random io.Reader, by *Pair, r Request) (*Pair, error) {
	template, err := template(random, r)
	if err != nil {
		return nil, err
	}
	template.ExtKeyUsage, template.KeyUsage = r.Usages, x509.KeyUsageDigitalSignature
	for _, name := range r.Names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	if end := by.Leaf().NotAfter; template.NotAfter.After(end) {
		template.NotAfter = end
	}
	if start := by.Leaf().NotBefore; template.NotBefore.Before(start) {
		template.NotBefore = start
	}
	return sign(random, template, by)
}

// NewAuthority makes an authority that signs certificates of servers and clients, and no other authorities.
func NewAuthority(random io.Reader, commonName string, now time.Time, lifetime time.Duration) (*Pair, error) {
	template, err := template(random, Request{CommonName: commonName, Now: now, Lifetime: lifetime})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.MaxPathLenZero = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	return sign(random, template, nil)
}

func template(random io.Reader, r Request) (*x509.Certificate, error) {
	// RFC 5280, 4.1.2.2: at most 20 bytes, and positive. 128 random bits are unique.
	number := make([]byte, 16)
	if _, err := io.ReadFull(random, number); err != nil {
		return nil, fmt.Errorf("choose a serial number: %w", err)
	}
	number[0] = number[0]&0x7f | 0x40
	return &x509.Certificate{
		SerialNumber:          new(big.Int).SetBytes(number),
		Subject:               pkix.Name{CommonName: CommonName(r.CommonName)},
		NotBefore:             r.Now.Add(-Backdate),
		NotAfter:              r.Now.Add(r.Lifetime),
		BasicConstraintsValid: true,
	}, nil
}

// CommonName is a name as a certificate can have it: cut to 64 characters (RFC 5280, ub-common-name).
func CommonName(name string) string {
	const most = 64
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "")
}

// sign makes a certificate and its key; without an authority it signs itself.
func sign(random io.Reader, template *x509.Certificate, by *Pair) (*Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if by == nil {
		by = &Pair{Chain: []*x509.Certificate{template}, Key: key}
	}
	der, err := x509.CreateCertificate(random, template, by.Leaf(), key.Public(), by.Key)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate that was just made: %w", err)
	}
	return &Pair{Chain: []*x509.Certificate{made}, Key: key}, nil
}

// Encode writes a pair as PEM, the key in PKCS #8.
func (p *Pair) Encode() (certificate, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode a private key: %w", err)
	}
	return Encode(p.Chain), pem.EncodeToMemory(&pem.Block{Type: blockPKCS8, Bytes: der}), nil
}
