package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validity is longer than any lab lives.
const validity = 10 * 365 * 24 * time.Hour

// Subject says whom a certificate is for.
type Subject struct {
	// CommonName is the user's name in Kubernetes.
	CommonName string
	// Organization is the user's group in Kubernetes; empty for none.
	Organization string
	// Hosts are the DNS names and IP addresses that a server is reached by.
	Hosts []string
}

// Authority signs the lab's certificates and keeps them in a folder, one NAME.crt and NAME.key each.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

// Ensure opens the authority in a folder, or makes one there.
func Ensure(dir string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the certificate folder: %w", err)
	}
	authority := &Authority{dir: dir}
	err := authority.load()
	if errors.Is(err, fs.ErrNotExist) {
		err = authority.create()
	}
	if err != nil {
		return nil, fmt.Errorf("open the certificate authority in %s: %w", dir, err)
	}
	return authority, nil
}

// Cert is the file that holds a certificate; "ca" is the authority's own.
func (a *Authority) Cert(name string) string { return filepath.Join(a.dir, name+".crt") }

// Key is the file that holds a certificate's private key.
func (a *Authority) Key(name string) string { return filepath.Join(a.dir, name+".key") }

// PublicKey is the file that holds the public half of a key made by EnsureKey.
func (a *Authority) PublicKey(name string) string { return filepath.Join(a.dir, name+".pub") }

// EnsureKey makes a bare key pair, as Kubernetes signs service-account tokens with.
func (a *Authority) EnsureKey(name string) error {
	if _, err := os.Stat(a.PublicKey(name)); err == nil {
		return nil
	}
	key, err := a.newKey(name)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode public key %s: %w", name, err)
	}
	return writePEM(a.PublicKey(name), "PUBLIC KEY", der)
}

// EnsureCert makes a certificate for both ends of a connection, unless it is there.
func (a *Authority) EnsureCert(name string, subject Subject) error {
	if _, err := os.Stat(a.Cert(name)); err == nil {
		return nil
	}
	key, err := a.newKey(name)
	if err != nil {
		return err
	}
	template, err := newTemplate(subject)
	if err != nil {
		return err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign certificate %s: %w", name, err)
	}
	return writePEM(a.Cert(name), "CERTIFICATE", der)
}

func (a *Authority) load() error {
	certificate, err := readPEM(a.Cert("ca"))
	if err != nil {
		return err
	}
	if a.cert, err = x509.ParseCertificate(certificate); err != nil {
		return fmt.Errorf("parse the certificate: %w", err)
	}
	der, err := readPEM(a.Key("ca"))
	if err != nil {
		return err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return fmt.Errorf("parse the key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return fmt.Errorf("a key of type %T cannot sign", key)
	}
	a.key = signer
	return nil
}

func (a *Authority) create() error {
	key, err := a.newKey("ca")
	if err != nil {
		return err
	}
	template, err := newTemplate(Subject{CommonName: "etcd-operator lab"})
	if err != nil {
		return err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("sign the authority: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return fmt.Errorf("parse the certificate: %w", err)
	}
	a.key = key
	return writePEM(a.Cert("ca"), "CERTIFICATE", der)
}

func newTemplate(subject Subject) (*x509.Certificate, error) {
	const serialBits = 127
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: subject.CommonName},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if subject.Organization != "" {
		template.Subject.Organization = []string{subject.Organization}
	}
	for _, host := range subject.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template, nil
}

func (a *Authority) newKey(name string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key %s: %w", name, err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key %s: %w", name, err)
	}
	return key, writePEM(a.Key(name), "PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(file), err)
	}
	return nil
}

func readPEM(file string) ([]byte, error) {
	data, err := os.ReadFile(file) // #nosec G304 -- below the lab's state folder
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Base(file), err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", file)
	}
	return block.Bytes, nil
}
